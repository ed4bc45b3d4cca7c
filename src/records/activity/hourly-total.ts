import type { ActivityKind } from './activity.js';

/** How often something happened in one hour, in total. */
export interface HourlyTotal {
  hour: Date;
  kind: ActivityKind;
  count: number;
}

import type { ActivityKind } from './activity.js';

/** How often something happened in one hour, for everybody. */
export interface HourOfAll {
  hour: Date;
  kind: ActivityKind;
  count: number;
}

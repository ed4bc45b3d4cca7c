import type { VNode } from 'preact';
import { State, type Tone } from '#platform/web/tables/state.js';
import type { DeliveryState } from './delivery.js';

export const STATE_LABELS: Record<DeliveryState, string> = {
  pending: 'Pending',
  delivered: 'Delivered',
  failed: 'Failed',
  cancelled: 'Cancelled',
};
const TONES: Record<DeliveryState, Tone> = {
  pending: 'warn',
  delivered: 'good',
  failed: 'bad',
  cancelled: 'plain',
};

/** The state of a delivery on a page of the portal or of the console. */
export const DeliveryStateBadge = ({ state }: { state: DeliveryState }): VNode => (
  <State tone={TONES[state]}>{STATE_LABELS[state]}</State>
);

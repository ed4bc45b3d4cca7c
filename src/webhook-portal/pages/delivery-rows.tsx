import type { VNode } from 'preact';
import { ExactMoment } from '../../http/pages/moment.js';
import type { Delivery, DeliveryState } from '../../webhooks/deliveries/delivery.js';
import { lastOutcome } from './failure-words.js';

export const STATE_WORDS: Record<DeliveryState, string> = {
  pending: 'Pending',
  delivered: 'Delivered',
  failed: 'Failed',
  cancelled: 'Cancelled',
};
const TONES: Record<DeliveryState, string> = {
  pending: 'badge-wait',
  delivered: 'badge-good',
  failed: 'badge-bad',
  cancelled: 'badge-idle',
};

export function DeliveryStateBadge({ state }: { state: DeliveryState }): VNode {
  return <span class={`badge ${TONES[state]}`}>{STATE_WORDS[state]}</span>;
}

export interface DeliveryRowsProps {
  deliveries: Delivery[];
  /** Whether to say to which endpoint each went. */
  withEndpoint: boolean;
  /** Of the headings of the rows. */
  level?: 2 | 3;
}

/** Deliveries one under the other, each with the way to its page. */
export function DeliveryRows({ deliveries, withEndpoint, level = 2 }: DeliveryRowsProps): VNode {
  const Heading = `h${level}` as 'h2' | 'h3';
  return (
    <ul class="rows" role="list">
      {deliveries.map((delivery) => (
        <li>
          <DeliveryStateBadge state={delivery.state} />
          <Heading class="row-title">
            <a href={`/portal/deliveries/${delivery.id}`}>
              {delivery.eventType}
              {delivery.isTest && ' (test)'}
            </a>
          </Heading>
          <p class="row-outcome">
            {lastOutcome(delivery)}
            {delivery.attempts > 1 && `, ${delivery.attempts} attempts`}
          </p>
          <p class="row-time">
            <ExactMoment at={delivery.createdAt} />
          </p>
          {withEndpoint && (
            <p class="row-url">
              <bdi>{delivery.endpointUrl}</bdi>
            </p>
          )}
        </li>
      ))}
    </ul>
  );
}

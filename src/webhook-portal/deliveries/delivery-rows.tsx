import type { VNode } from 'preact';
import { ExactMoment } from '../../web/tables/moment.js';
import { State, type Tone } from '../../web/tables/state.js';
import type { Delivery, DeliveryState } from '../../webhooks/deliveries/delivery.js';
import { withQuery } from './delivery-query.js';
import { lastOutcome } from './failure-messages.js';
import { TypeName } from '../frame/type-name.js';

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

export const DeliveryStateBadge = ({ state }: { state: DeliveryState }): VNode => (
  <State tone={TONES[state]}>{STATE_LABELS[state]}</State>
);

export interface DeliveryRowsProps {
  deliveries: Delivery[];
  /** Whether to show each delivery's endpoint. */
  withEndpoint: boolean;
  /** The place in the list, for the way back. */
  place: string;
  /** The heading level of the rows. */
  level?: 2 | 3;
  /** The form for which rows can be chosen. */
  chosenFor?: string;
}

/** A list of deliveries, each with a link to its page. */
export function DeliveryRows({
  deliveries,
  withEndpoint,
  place,
  level = 2,
  chosenFor,
}: DeliveryRowsProps): VNode {
  const Heading = `h${level}` as 'h2' | 'h3';
  return (
    <ul class={chosenFor ? 'rows rows-chosen' : 'rows'} role="list">
      {deliveries.map((delivery) => (
        <li data-key={delivery.id}>
          {chosenFor && (
            <label class="row-choice">
              <input
                type="checkbox"
                name="delivery"
                value={delivery.id}
                form={chosenFor}
                autocomplete="off"
              />
              <span class="visually-hidden">
                Choose {delivery.eventType} {delivery.id}
              </span>
            </label>
          )}
          <DeliveryStateBadge state={delivery.state} />
          <Heading class="row-title">
            <a href={withQuery(`/portal/deliveries/${delivery.id}`, place)}>
              <TypeName name={delivery.eventType} />
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

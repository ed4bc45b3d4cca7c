import type { VNode } from 'preact';
import type { Attempt } from '../deliveries/delivery.js';
import { DeliveryStateBadge } from '../deliveries/delivery-state.js';

interface BatchListProps {
  attempt: Pick<Attempt, 'number' | 'batch'>;
  /** The delivery that the page is about. */
  deliveryId: string;
  /** Where a delivery is shown. */
  pathOf: (deliveryId: string) => string;
}

/** What an attempt sent in one request, folded away; nothing if it sent one event by itself. */
export function BatchList({ attempt, deliveryId, pathOf }: BatchListProps): VNode | null {
  const { number, batch } = attempt;
  if (!batch) return null;
  const { length } = batch.events;
  return (
    <details>
      <summary>
        In a batch of {length} {length === 1 ? 'event' : 'events'}
        <span class="visually-hidden"> in attempt {number}</span>
      </summary>
      <p class="hint">
        In the order of the request <code>{batch.id}</code>, as far as they are kept.
      </p>
      <ol>
        {batch.events.map(({ deliveryId: id, eventType, state }) => (
          <li>
            {id === deliveryId ? (
              <strong>{eventType} (this one)</strong>
            ) : (
              <a href={pathOf(id)}>
                {eventType}
                <span class="visually-hidden"> ({id})</span>
              </a>
            )}{' '}
            <DeliveryStateBadge state={state} />
          </li>
        ))}
      </ol>
    </details>
  );
}

import type { SelectQueryBuilder } from 'typeorm';
import { firstIdAt } from '#platform/secrets/ids.js';
import type { DeliveryEntity } from './delivery.entity.js';
import type { DeliveryState } from './delivery.js';

/** All given members must match; `from` is inclusive, `to` exclusive, both for the creation time of the delivery. */
export interface DeliveryFilter {
  id?: string;
  clientId?: string;
  endpointId?: string;
  eventId?: string;
  state?: DeliveryState;
  eventType?: string;
  from?: Date;
  to?: Date;
  recoveryId?: string;
  /** The request that published the event. */
  requestId?: string;
}

/**
 * What a list with this filter is ordered by. Only the indexes that contain the state have the order "C" (the same for ids), so
 * PostgreSQL cannot choose to read by id alone, which would read a whole backlog before finding the first delivered one.
 */
export const orderOf = ({ state }: DeliveryFilter): string =>
  state === undefined ? 'delivery.id' : 'delivery.id COLLATE "C"';

/** Applies the filter to a query. Times are compared by id, because ids contain them. */
export function filtered(
  query: SelectQueryBuilder<DeliveryEntity>,
  filter: DeliveryFilter,
): SelectQueryBuilder<DeliveryEntity> {
  const { clientId, endpointId, eventId, state, eventType, from, to, recoveryId, requestId } = filter;
  const id = orderOf(filter);
  if (filter.id !== undefined) query.andWhere('delivery.id = :id', { id: filter.id });
  if (clientId !== undefined) query.andWhere('delivery.clientId = :clientId', { clientId });
  if (endpointId !== undefined) query.andWhere('delivery.endpointId = :endpointId', { endpointId });
  if (eventId !== undefined) query.andWhere('delivery.eventId = :eventId', { eventId });
  if (eventType !== undefined) {
    query.andWhere('delivery.eventType = :eventType', { eventType });
    // Of a rare type, the events are found by their own index, and not by a walk over all deliveries.
    query.andWhere('delivery.eventId IN (SELECT t.id FROM events t WHERE t.type = :eventType)');
  }
  if (recoveryId !== undefined) query.andWhere('delivery.recoveryId = :recoveryId', { recoveryId });
  if (requestId !== undefined) {
    // Some of these queries do not join the event.
    query.andWhere('delivery.eventId IN (SELECT v.id FROM events v WHERE v.request_id = :requestId)', {
      requestId,
    });
  }
  if (from !== undefined) query.andWhere(`${id} >= :firstId`, { firstId: firstIdAt('dlvr', from) });
  if (to !== undefined) query.andWhere(`${id} < :endId`, { endId: firstIdAt('dlvr', to) });
  // A literal, so that the partial index of undelivered deliveries can be used.
  if (state !== undefined) query.andWhere(`delivery.state = '${state}'`);
  return query;
}

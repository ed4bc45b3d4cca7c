import type { SelectQueryBuilder } from 'typeorm';
import { firstIdAt } from '../../secrets/ids.js';
import type { DeliveryEntity } from './delivery.entity.js';
import type { DeliveryState } from './delivery.js';

/** All given members must match; `from` is inclusive, `to` exclusive, both for the creation time of the delivery. */
export interface DeliveryFilter {
  clientId?: string;
  endpointId?: string;
  state?: DeliveryState;
  eventType?: string;
  from?: Date;
  to?: Date;
  recoveryId?: string;
}

/** Narrows a query of deliveries down. Times are compared by id, because ids contain them. */
export function filtered(
  query: SelectQueryBuilder<DeliveryEntity>,
  { clientId, endpointId, state, eventType, from, to, recoveryId }: DeliveryFilter,
): SelectQueryBuilder<DeliveryEntity> {
  if (clientId !== undefined) query.andWhere('delivery.clientId = :clientId', { clientId });
  if (endpointId !== undefined) query.andWhere('delivery.endpointId = :endpointId', { endpointId });
  if (eventType !== undefined) query.andWhere('delivery.eventType = :eventType', { eventType });
  if (recoveryId !== undefined) query.andWhere('delivery.recoveryId = :recoveryId', { recoveryId });
  if (from !== undefined) query.andWhere('delivery.id >= :firstId', { firstId: firstIdAt('dlvr', from) });
  if (to !== undefined) query.andWhere('delivery.id < :endId', { endId: firstIdAt('dlvr', to) });
  // A literal, so that the partial index of undelivered deliveries can be used.
  if (state !== undefined) query.andWhere(`delivery.state = '${state}'`);
  return query;
}

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

import { PageQuery } from '../http/paging.js';
import { IsIdOf, IsOneOf, MayBeLeftOut } from '../http/member-rules.decorator.js';
import { DELIVERY_STATES, type DeliveryState } from '../webhooks/deliveries/delivery.js';

/** Query of `GET /admin/deliveries`; each member narrows the list. */
export class DeliveriesQuery extends PageQuery {
  @MayBeLeftOut()
  @IsIdOf('clnt', 'client')
  client_id?: string;

  @MayBeLeftOut()
  @IsIdOf('endp', 'webhook endpoint')
  endpoint_id?: string;

  @MayBeLeftOut()
  @IsOneOf(...DELIVERY_STATES)
  state?: DeliveryState;
}

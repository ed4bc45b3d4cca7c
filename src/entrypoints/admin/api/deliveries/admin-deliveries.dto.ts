import { PageQuery } from '#platform/http/api/page-query.js';
import { IsIdOf, IsOneOf, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';
import { DELIVERY_STATES, type DeliveryState } from '#events/webhooks/deliveries/delivery.js';

/** Query of `GET /admin/deliveries`; all given members must match. */
export class DeliveriesQuery extends PageQuery {
  @IsOptionalNotNull()
  @IsIdOf('clnt', 'client')
  client_id?: string;

  @IsOptionalNotNull()
  @IsIdOf('endp', 'webhook endpoint')
  endpoint_id?: string;

  @IsOptionalNotNull()
  @IsOneOf(...DELIVERY_STATES)
  state?: DeliveryState;
}

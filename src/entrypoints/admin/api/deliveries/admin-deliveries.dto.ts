import { PageQuery } from '#platform/http/api/page-query.js';
import { IsIdOf, IsOneOf, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';
import {
  DELIVERY_STATES,
  type DeliveryState,
  type Attempt,
  type Delivery,
  type DeliveryDetail,
} from '#events/webhooks/deliveries/delivery.js';
import { ApiSchema } from '@nestjs/swagger';
import { flag, idOf, listOf, oneOf, orNull, text, time, whole } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';

/** Query of `GET /admin/deliveries`; all given members must match. */
export class DeliveriesQuery extends PageQuery {
  @IsOptionalNotNull() @IsIdOf('clnt', 'client') client_id?: string;
  @IsOptionalNotNull() @IsIdOf('endp', 'webhook endpoint') endpoint_id?: string;
  @IsOptionalNotNull() @IsOneOf(...DELIVERY_STATES) state?: DeliveryState;
}

const DELIVERY = {
  id: idOf('dlvr', 'Also the `webhook-id` of every attempt outside of a batch.'),
  event_id: idOf('evnt'),
  event_type: text(undefined, { example: 'vehicle.updated' }),
  endpoint_id: idOf('endp'),
  client_id: idOf('clnt'),
  state: oneOf(...DELIVERY_STATES),
  cancel_reason: orNull(
    text(
      'Why it was cancelled: `consent_withdrawn`, `scope_missing`, `endpoint_disabled`, `endpoint_deleted` or `client_disabled`.',
    ),
  ),
  attempt_count: [whole(), ({ attempts }: Delivery) => attempts],
  next_attempt_at: orNull(time('Only for a pending delivery that waits for no other one.')),
  waits_for_earlier_event: [
    flag(
      'Whether it waits until an earlier event of its user was delivered or has failed for good, because its endpoint is `ordered`.',
    ),
    ({ isBehind }: Delivery) => isBehind,
  ],
  created_at: time(),
  finished_at: orNull(time()),
} as const;

/** A delivery on the wire; `next_attempt_at` is null unless it is pending, `cancel_reason` unless it was cancelled. */
@ApiSchema({ name: 'Delivery' })
export class DeliveryView extends viewOf<Delivery>()(DELIVERY) {}

/** An attempt on the wire: `status` of the response, or `failure` and `detail` if there was none; `detail` of a response says why its body is not there. */
@ApiSchema({ name: 'Attempt' })
class AttemptView extends viewOf<Attempt>()({
  number: whole(),
  attempted_at: time(),
  duration_ms: whole(),
  status: orNull(whole('HTTP status of the response.')),
  failure: orNull(
    text(
      'Set if there was no response: `dns`, `tls`, `timeout`, `blocked_address`, `connection`, `http`, `token`: its authorization server gave no access token; or `not_acknowledged`: the answer to its batch was 207, and did not acknowledge it.',
    ),
  ),
  detail: orNull(
    text(
      'Why there was no response, in a sentence; or why the body of the response is not there: it is compressed.',
    ),
  ),
  response_start: orNull(text('The first 16 kB of the response body.')),
  batch: [
    {
      type: 'object',
      nullable: true,
      description: 'What was sent in the same request, at an endpoint with `batch`; otherwise null.',
      properties: {
        id: text('The `webhook-id` of the request.', { example: 'batch_5f0c1d8e2b7a4936c1d2e3f405162738' }),
        delivery_ids: listOf(idOf('dlvr'), {
          description: 'Those that are kept, in the order of the request.',
        }),
      },
      required: ['id', 'delivery_ids'],
    },
    ({ batch }: Attempt) =>
      batch && { id: batch.id, delivery_ids: batch.events.map(({ deliveryId }) => deliveryId) },
  ],
}) {}

/** A delivery with everything that was sent and received. */
@ApiSchema({ name: 'DeliveryWithAttempts' })
export class DeliveryDetailView extends viewOf<DeliveryDetail>()({
  ...DELIVERY,
  payload: [
    {
      type: 'object',
      nullable: true,
      additionalProperties: true,
      description: 'The body of every request; null if the user that it was about was erased.',
    },
    ({ payload }) => (payload === null ? null : (JSON.parse(payload) as object)),
  ],
  attempts: [{ type: [AttemptView] }, ({ attemptList }) => attemptList.map(AttemptView.of)],
}) {}

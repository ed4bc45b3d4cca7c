import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, oneOf, orNull, text, time, whole } from '../../../http/api/api-schemas.js';
import {
  DELIVERY_STATES,
  type Attempt,
  type CancelReason,
  type Delivery,
  type DeliveryDetail,
  type DeliveryState,
} from '../../../webhooks/deliveries/delivery.js';

/** A delivery on the wire; `next_attempt_at` is null unless it is pending, `cancel_reason` unless it was cancelled. */
@ApiSchema({ name: 'Delivery' })
export class DeliveryView {
  @ApiProperty(idOf('dlvr', 'Also the `webhook-id` of every attempt.'))
  id!: string;

  @ApiProperty(idOf('evnt'))
  event_id!: string;

  @ApiProperty(text(undefined, { example: 'vehicle.updated' }))
  event_type!: string;

  @ApiProperty(idOf('endp'))
  endpoint_id!: string;

  @ApiProperty(idOf('clnt'))
  client_id!: string;

  @ApiProperty(oneOf(...DELIVERY_STATES))
  state!: DeliveryState;

  @ApiProperty(
    orNull(
      text(
        'Why it was cancelled: `consent_withdrawn`, `scope_missing`, `endpoint_disabled`, `endpoint_deleted` or `client_disabled`.',
      ),
    ),
  )
  cancel_reason!: CancelReason | null;

  @ApiProperty(whole())
  attempt_count!: number;

  @ApiProperty(orNull(time('Only for a pending delivery.')))
  next_attempt_at!: string | null;

  @ApiProperty(time())
  created_at!: string;

  @ApiProperty(orNull(time()))
  finished_at!: string | null;
}

/** An attempt on the wire: `status` of the response, or `failure` and `detail` if there was none. */
@ApiSchema({ name: 'Attempt' })
export class AttemptView {
  @ApiProperty(whole())
  number!: number;

  @ApiProperty(time())
  attempted_at!: string;

  @ApiProperty(whole())
  duration_ms!: number;

  @ApiProperty(orNull(whole('HTTP status of the response.')))
  status!: number | null;

  @ApiProperty(
    orNull(
      text(
        'Set if there was no response: `dns`, `tls`, `timeout`, `blocked_address`, `connection` or `http`.',
      ),
    ),
  )
  failure!: string | null;

  @ApiProperty(orNull(text()))
  detail!: string | null;

  @ApiProperty(orNull(text('The first 16 kB of the response body.')))
  response_start!: string | null;
}

/** A delivery with everything that was sent and received. */
@ApiSchema({ name: 'DeliveryWithAttempts' })
export class DeliveryDetailView extends DeliveryView {
  @ApiProperty({
    type: 'object',
    nullable: true,
    additionalProperties: true,
    description: 'The body of every request; null if the user that it was about was erased.',
  })
  payload!: object | null;

  @ApiProperty({ type: [AttemptView] })
  attempts!: AttemptView[];
}

export const deliveryView = (delivery: Delivery): DeliveryView => ({
  id: delivery.id,
  event_id: delivery.eventId,
  event_type: delivery.eventType,
  endpoint_id: delivery.endpointId,
  client_id: delivery.clientId,
  state: delivery.state,
  cancel_reason: delivery.cancelReason,
  attempt_count: delivery.attempts,
  next_attempt_at: delivery.nextAttemptAt?.toISOString() ?? null,
  created_at: delivery.createdAt.toISOString(),
  finished_at: delivery.finishedAt?.toISOString() ?? null,
});

const attemptView = (attempt: Attempt): AttemptView => ({
  number: attempt.number,
  attempted_at: attempt.attemptedAt.toISOString(),
  duration_ms: attempt.durationMs,
  status: attempt.status,
  failure: attempt.failure,
  detail: attempt.detail,
  response_start: attempt.responseStart,
});

export const deliveryDetailView = (delivery: DeliveryDetail): DeliveryDetailView => ({
  ...deliveryView(delivery),
  payload: delivery.payload === null ? null : (JSON.parse(delivery.payload) as object),
  attempts: delivery.attemptList.map(attemptView),
});

import type {
  Attempt,
  CancelReason,
  Delivery,
  DeliveryDetail,
  DeliveryState,
} from '../webhooks/deliveries/delivery.js';

/** A delivery on the wire; `next_attempt_at` is null unless it is pending, `cancel_reason` unless it was cancelled. */
export interface DeliveryView {
  id: string;
  event_id: string;
  event_type: string;
  endpoint_id: string;
  client_id: string;
  state: DeliveryState;
  cancel_reason: CancelReason | null;
  attempt_count: number;
  next_attempt_at: string | null;
  created_at: string;
  finished_at: string | null;
}

/** An attempt on the wire: `status` of the response, or `failure` and `detail` if there was none. */
export interface AttemptView {
  number: number;
  attempted_at: string;
  duration_ms: number;
  status: number | null;
  failure: string | null;
  detail: string | null;
  response_start: string | null;
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

export const deliveryDetailView = (delivery: DeliveryDetail) => ({
  ...deliveryView(delivery),
  payload: delivery.payload === null ? null : (JSON.parse(delivery.payload) as object),
  attempts: delivery.attemptList.map(attemptView),
});

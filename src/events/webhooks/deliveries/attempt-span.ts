import { inLogScope } from '#platform/telemetry/log-scope.js';
import { tracing, type SpanOutcome } from '#platform/telemetry/tracing.js';
import type { AttemptResult } from './delivery-attempt.service.js';
import type { ClaimedDelivery } from './claimed-delivery.js';

/**
 * Makes an attempt in its own trace, if tracing is enabled. The span contains no URL, because a partner may keep a secret in it.
 */
export function inAttemptSpan(
  { id, endpointId, eventType, retries }: ClaimedDelivery,
  attempt: () => Promise<AttemptResult>,
): Promise<AttemptResult> {
  const traces = tracing();
  if (!traces) return attempt();
  return traces.alone(
    'webhook attempt',
    {
      'webhook.delivery.id': id,
      'webhook.endpoint.id': endpointId,
      'webhook.event.type': eventType,
      'webhook.retries': retries,
    },
    (traceId) => inLogScope({ delivery_id: id, trace_id: traceId }, attempt),
    outcomeOf,
  );
}

function outcomeOf({ finished: { state, attempt }, isSuccess }: AttemptResult): SpanOutcome {
  return {
    attributes: {
      'webhook.delivery.state': state,
      ...(attempt?.status === undefined ? {} : { 'http.response.status_code': attempt.status }),
      ...(attempt?.failure === undefined ? {} : { 'error.type': attempt.failure }),
    },
    failed: attempt !== undefined && !isSuccess,
  };
}

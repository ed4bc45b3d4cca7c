import { inLogScope } from '#platform/telemetry/log-scope.js';
import { tracing, type SpanOutcome } from '#platform/telemetry/tracing.js';
import type { AttemptResult } from './delivery-attempt.service.js';
import type { ClaimedDelivery } from './claimed-delivery.js';

/**
 * Makes an attempt in its own trace, if tracing is enabled. The span contains no URL, because a partner may keep a secret in it.
 */
export function inAttemptSpan(
  claims: readonly ClaimedDelivery[],
  attempt: () => Promise<AttemptResult[]>,
): Promise<AttemptResult[]> {
  const traces = tracing();
  if (!traces) return attempt();
  const { id, endpointId, eventType, retries, batch } = claims[0]!;
  return traces.alone(
    'webhook attempt',
    {
      'webhook.delivery.id': id,
      'webhook.endpoint.id': endpointId,
      'webhook.event.type': eventType,
      'webhook.retries': retries,
      ...(batch ? { 'webhook.batch.size': claims.length } : {}),
    },
    (traceId) => inLogScope({ delivery_id: id, trace_id: traceId }, attempt),
    outcomeOf,
  );
}

function outcomeOf(results: AttemptResult[]): SpanOutcome {
  // What was refused, if anything was.
  const { finished, isSuccess } = results.find((each) => !each.isSuccess) ?? results[0]!;
  const { state, attempt } = finished;
  return {
    attributes: {
      'webhook.delivery.state': state,
      ...(attempt?.status === undefined ? {} : { 'http.response.status_code': attempt.status }),
      ...(attempt?.failure === undefined ? {} : { 'error.type': attempt.failure }),
    },
    failed: attempt !== undefined && !isSuccess,
  };
}

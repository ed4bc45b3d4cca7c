import type { VNode } from 'preact';
import { State } from '../../http/pages/state.js';
import { healthOf } from '../../webhooks/endpoints/endpoint-health.js';
import type { EndpointEntity } from '../../webhooks/endpoints/endpoint.entity.js';

type Health = Pick<EndpointEntity, 'enabled' | 'disabledReason' | 'failingSince'>;

/** The endpoint's state as a badge. */
export function EndpointState({ endpoint }: { endpoint: Health }): VNode {
  const { label, tone } = healthOf(endpoint);
  return <State tone={tone}>{label}</State>;
}

/** Why the service disabled an endpoint, and what to do; undefined if it did not. */
export function whyDisabled({ enabled, disabledReason }: Health): string | undefined {
  if (enabled || disabledReason === null) return undefined;
  return disabledReason === 'gone'
    ? 'It responded with “410 Gone”, which asks us to stop sending. If that was a mistake, fix it and enable it again.'
    : 'It accepted no events for five days. Fix it, enable it again, and recover the failed deliveries.';
}

/** The share of successful deliveries as a whole percentage, 100 only if all succeeded; undefined without attempts. */
export function successRate({
  delivered,
  failed,
}: {
  delivered: number;
  failed: number;
}): string | undefined {
  const all = delivered + failed;
  if (all === 0) return undefined;
  const percent = (100 * delivered) / all;
  const whole = failed === 0 ? 100 : delivered === 0 ? 0 : Math.min(99, Math.max(1, Math.round(percent)));
  return `${whole} %`;
}

import type { VNode } from 'preact';
import type { EndpointEntity } from '../../webhooks/endpoints/endpoint.entity.js';

type State = Pick<EndpointEntity, 'enabled' | 'disabledReason'>;

/** Whether events are sent to the endpoint, as a badge. */
export function EndpointState({ endpoint: { enabled, disabledReason } }: { endpoint: State }): VNode {
  if (enabled) return <span class="badge badge-good">Enabled</span>;
  return disabledReason === null ? (
    <span class="badge badge-idle">Disabled</span>
  ) : (
    <span class="badge badge-bad">Disabled by the service</span>
  );
}

/** Why the service disabled an endpoint, and what to do; undefined where it did not. */
export function whyDisabled({ enabled, disabledReason }: State): string | undefined {
  if (enabled || disabledReason === null) return undefined;
  return disabledReason === 'gone'
    ? 'It answered “410 Gone”, which asks for nothing more to be sent. If that was a mistake, mend it and enable it again.'
    : 'It accepted no event for five days. Mend it, enable it again, and recover what failed meanwhile.';
}

/** How much arrived, as a whole percentage that says 100 only where everything did; undefined without attempts. */
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

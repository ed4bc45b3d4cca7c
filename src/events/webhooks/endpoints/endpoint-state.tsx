import type { VNode } from 'preact';
import { State } from '#platform/web/tables/state.js';
import { healthOf } from './endpoint-health.js';
import type { EndpointEntity } from './endpoint.entity.js';

/** The endpoint's state as a badge. */
export function EndpointState({
  endpoint,
}: {
  endpoint: Pick<EndpointEntity, 'enabled' | 'disabledReason' | 'failingSince'>;
}): VNode {
  const { label, tone } = healthOf(endpoint);
  return <State tone={tone}>{label}</State>;
}

import { DISABLED_BECAUSE, type EndpointEntity } from './endpoint.entity.js';

/** The state of an endpoint, in words that the portal and the console share. */
export interface EndpointHealth {
  label: string;
  tone: 'good' | 'warn' | 'bad' | 'plain';
  /** Why the service disabled it. */
  reason?: string;
}

/** The only place that decides an endpoint's state: an enabled one without a success since its last failures is failing. */
export function healthOf({
  enabled,
  disabledReason,
  failingSince,
}: Pick<EndpointEntity, 'enabled' | 'disabledReason' | 'failingSince'>): EndpointHealth {
  if (enabled && failingSince !== null) return { label: 'Failing', tone: 'warn' };
  if (enabled) return { label: 'Enabled', tone: 'good' };
  if (disabledReason === null) return { label: 'Disabled', tone: 'plain' };
  return { label: 'Disabled by the service', tone: 'bad', reason: `it ${DISABLED_BECAUSE[disabledReason]}` };
}

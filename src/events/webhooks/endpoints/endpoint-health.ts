import { DISABLED_BECAUSE, type EndpointEntity } from './endpoint.entity.js';
import type { Environment } from '#access/users/accounts/environment.js';
import type { ListedEndpoint } from './endpoint.resource.js';

/** An endpoint's attempts in one hour. */
export interface EndpointHour {
  hour: Date;
  delivered: number;
  failed: number;
  averageMs: number;
  slowestMs: number;
}

/** The attempts of all endpoints in one hour. */
export interface HourlyAttempts {
  hour: Date;
  delivered: number;
  failed: number;
}

/** An endpoint in a list, with its attempts of the last 24 hours. */
export interface EndpointInList extends ListedEndpoint {
  clientName: string;
  /** Of the client. */
  environment: Environment;
  delivered24h: number;
  failed24h: number;
  /** One of the last attempts at its present URL succeeded. */
  hasSucceeded: boolean;
}

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

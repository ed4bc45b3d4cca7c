import type { Environment } from '../../users/accounts/environment.js';
import type { EndpointEntity } from './endpoint.entity.js';

/** What a list shows of an endpoint itself. */
export const LISTED_MEMBERS = [
  'id',
  'clientId',
  'url',
  'description',
  'eventTypes',
  'enabled',
  'disabledReason',
  'disabledAt',
  'lastAttemptAt',
  'maxPerMinute',
  'headerNames',
  'failingSince',
  'createdAt',
  'updatedAt',
] as const satisfies readonly (keyof EndpointEntity)[];

export type ListedEndpoint = Pick<EndpointEntity, (typeof LISTED_MEMBERS)[number]>;

/** An endpoint in a list, with its attempts of the last 24 hours. */
export interface EndpointInList extends ListedEndpoint {
  clientName: string;
  /** Of the client. */
  environment: Environment;
  delivered24h: number;
  failed24h: number;
}

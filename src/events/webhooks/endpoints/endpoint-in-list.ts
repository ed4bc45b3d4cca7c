import type { Environment } from '#access/users/accounts/environment.js';
import type { ListedEndpoint } from './endpoint.resource.js';

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

import type { OperatorRole } from '../config/operator-role.js';
import type { ClientEntity } from './client.entity.js';

/** A client, the digests of its valid secrets, and what its tokens depend on: everything that requests need, in one query. */
export interface ClientWithSecrets {
  client: ClientEntity;
  secretDigests: Buffer[];
  /** Seconds until the first of the secrets expires; null if none does. */
  seconds: number | null;
  ownerEnabled: boolean;
  /** Null unless the owner is an operator. */
  ownerRole: OperatorRole | null;
  webhooksEnabled: boolean;
  /** Client-credentials tokens of earlier epochs are revoked. */
  epoch: number;
  /** The transaction position and the time (milliseconds since 1970) as of which all this holds. */
  position: number;
  now: number;
}

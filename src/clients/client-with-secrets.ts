import type { OperatorRole } from '../config/operator-role.js';
import type { ClientEntity } from './client.entity.js';

/** What is read of a client with its secrets. */
export const KNOWN_MEMBERS = [
  'id',
  'name',
  'type',
  'grantTypes',
  'scopes',
  'redirectUris',
  'ownerId',
  'enabled',
  'rateLimit',
  'environment',
  'companyService',
  'organisation',
  'site',
  'privacyPolicy',
  'logoId',
] as const satisfies readonly (keyof ClientEntity)[];

/** A client as requests know it. */
export type KnownClient = Pick<ClientEntity, (typeof KNOWN_MEMBERS)[number]>;

/** A client, the digests of its valid secrets, and what its tokens depend on: everything that requests need, in one query. */
export interface ClientWithSecrets {
  client: KnownClient;
  secretDigests: Buffer[];
  /** Seconds until the first of the secrets expires; null if none does. */
  seconds: number | null;
  ownerEnabled: boolean;
  /** What it may do as an operator: all as a service of the company, otherwise what its owner may; null for nothing. */
  operatorRole: OperatorRole | null;
  hasOperatorScope: boolean;
  webhooksEnabled: boolean;
  /** Client-credentials tokens of earlier epochs are revoked. */
  epoch: number;
  /** The transaction position and the time (milliseconds since 1970) as of which all this holds. */
  position: number;
  now: number;
}

/** Whether the client may do anything: it is enabled, and if it has operator scopes, someone stands behind it (contract §17). */
export const isWorking = ({ client, operatorRole, hasOperatorScope }: ClientWithSecrets): boolean =>
  client.enabled && isBacked({ operatorRole, hasOperatorScope });

/** False for a client with operator scopes that may do nothing as an operator: it may do nothing at all. */
export const isBacked = ({
  operatorRole,
  hasOperatorScope,
}: Pick<ClientWithSecrets, 'operatorRole' | 'hasOperatorScope'>): boolean =>
  operatorRole !== null || !hasOperatorScope;

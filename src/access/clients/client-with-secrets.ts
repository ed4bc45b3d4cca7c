import type { OperatorRole } from '#platform/config/operator-role.js';
import type { ClientEntity } from './client.entity.js';

/** The columns of a client that are read with its secrets. */
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
  'tokenEndpointAuthMethod',
  'jwks',
  'jwksUri',
  'accessTokenLifetime',
  'resourceIndicators',
  'dpopBoundAccessTokens',
  'securityProfile',
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
  /** Its operator role: admin for a company service, otherwise the role of its owner; null if none. */
  operatorRole: OperatorRole | null;
  hasOperatorScope: boolean;
  webhooksEnabled: boolean;
  /** Client-credentials tokens of earlier epochs are revoked. */
  epoch: number;
  /** The transaction position and the time (milliseconds since 1970) as of which all this holds. */
  position: number;
  now: number;
}

/**
 * Whether the client works: it is enabled and, with operator scopes, an operator or the company is responsible for it (contract
 * §17).
 */
export const isWorking = ({ client, operatorRole, hasOperatorScope }: ClientWithSecrets): boolean =>
  client.enabled && isBacked({ operatorRole, hasOperatorScope });

/** False for a client with operator scopes but without an operator role: it does not work at all. */
export const isBacked = ({
  operatorRole,
  hasOperatorScope,
}: Pick<ClientWithSecrets, 'operatorRole' | 'hasOperatorScope'>): boolean =>
  operatorRole !== null || !hasOperatorScope;

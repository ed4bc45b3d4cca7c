import type { OperatorRole } from '#platform/config/operator-role.js';
import type { ClientType } from '#access/clients/client.entity.js';
import type { TokenAdditions } from '../keys/token-additions.js';
import type { Environment } from '#access/users/accounts/environment.js';

/** The client of a valid token, as far as endpoints need it. */
export interface PrincipalClient {
  id: string;
  type: ClientType;
  environment: Environment;
  ownerId: string;
  /** The role of the client in the admin API: that of its owner, or admin for a company service; null for none. */
  operatorRole: OperatorRole | null;
  /** Whether it has operator scopes, which hides it from partners. */
  hasOperatorScope: boolean;
  /** Requests per hour; null for the default of the service. */
  rateLimit: number | null;
  /** Whether the owner may open the webhook portal. */
  webhooksEnabled: boolean;
}

/** The caller with a valid access token, and what the token may currently do. */
export interface Principal {
  client: Readonly<PrincipalClient>;
  /** The user who authorized the client; absent for client credentials. */
  userId?: string;
  grantId?: string;
  /** When the grant ends, as known when the token was issued; milliseconds since 1970. */
  grantEndsAt?: number | undefined;
  /** Only for client-credentials tokens, which end when the client's epoch is raised. */
  epoch?: number;
  /** The thumbprint of the key that the token is bound to (RFC 9449), in base64url; undefined for none. */
  jkt?: string | undefined;
  /** The token's scopes ∩ the client's ∩ (where a user is concerned) the active consent's (contract §2). */
  scopes: readonly string[];
  /** What else the token says: whom it is for, and how its user logged in. */
  additions?: TokenAdditions | undefined;
  issuedAt: Date;
  expiresAt: Date;
}

/** What a token may do, and until when if nothing changes. */
export type Access = Pick<Principal, 'scopes' | 'expiresAt'>;

/** The scopes contained in every list, in the order of the first. */
export const intersection = (first: readonly string[], ...others: (readonly string[])[]): string[] =>
  first.filter((scope) => others.every((list) => list.includes(scope)));

/** The token of an `Authorization` header (RFC 6750 §2.1, RFC 9449 §7.1); undefined if there is none. */
export function accessTokenOf(authorization: string | undefined): string | undefined {
  return /^(?:Bearer|DPoP) +(\S+)$/i.exec(authorization ?? '')?.[1];
}

/** Whether an `Authorization` header has the scheme Bearer or DPoP with any value, well-formed or not. */
export const hasAccessToken = (authorization: string | undefined): authorization is string =>
  authorization !== undefined && /^(?:Bearer|DPoP) +\S/i.test(authorization);

/** Whether it has the scheme DPoP (RFC 9449 §7.1). */
export const isDpop = (authorization: string | undefined): boolean =>
  authorization !== undefined && /^DPoP /i.test(authorization);

import type { ClientType } from '../clients/client.entity.js';

/** The client behind a live token, as far as endpoints need it. */
export interface PrincipalClient {
  id: string;
  name: string;
  type: ClientType;
  ownerId: string;
  /** Requests an hour; null: the service's own limit. */
  rateLimit: number | null;
  /** Whether the owner may open the webhook portal. */
  webhooksEnabled: boolean;
}

/** Who calls with a live access token, and what the token may do at this moment. */
export interface Principal {
  client: Readonly<PrincipalClient>;
  /** The user who gave the grant; absent for client credentials. */
  userId?: string;
  grantId?: string;
  /** The token's scopes ∩ the client's ∩ (where a user is concerned) the live consent's (contract §2). */
  scopes: readonly string[];
  issuedAt: Date;
  expiresAt: Date;
}

/** The scopes that every one of the lists holds, in the order of the first. */
export const intersection = (first: readonly string[], ...others: (readonly string[])[]): string[] =>
  first.filter((scope) => others.every((list) => list.includes(scope)));

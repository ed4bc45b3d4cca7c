/** What is counted. */
export type ActivityKind =
  | 'token_issued'
  | 'token_refused'
  | 'bearer_refused'
  | 'rate_limited'
  | 'rate_limit_near'
  | 'sign_in'
  | 'sign_in_refused';

/** The kinds that are refusals of a client's requests. */
export const REFUSALS: ActivityKind[] = ['token_refused', 'bearer_refused', 'rate_limited'];

/** Why a client could not authenticate. */
export const CREDENTIALS_REFUSALS = [
  'unknown_client',
  'client_disabled',
  'wrong_secret',
  'expired_secret',
  'no_secret',
  'secret_of_public_client',
  'no_credentials',
] as const;
export type CredentialsRefusal = (typeof CREDENTIALS_REFUSALS)[number];

/** Why a bearer token was refused. */
export type BearerRefusal =
  | 'no_token'
  | 'token_in_query'
  | 'token_malformed'
  | 'token_unknown'
  | 'token_expired'
  | 'token_revoked'
  | 'grant_expired'
  | 'client_disabled'
  | 'owner_disabled'
  | 'user_disabled'
  | 'consent_withdrawn'
  | 'scope_missing';

/** Something that happened. */
export interface Happening {
  kind: ActivityKind;
  /** Why, or which; from a list of our own, never from a request. */
  detail: string;
  /** A client that exists. */
  clientId?: string;
  address?: string;
}

/** A happening with how often it did, and when last. */
export interface Counted {
  clientId: string;
  kind: ActivityKind;
  detail: string;
  count: number;
  lastAt: Date;
  lastAddress: string | null;
}

/** The sum over everybody. */
export const EVERYBODY = 'all';

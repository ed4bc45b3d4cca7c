import type {} from 'fastify';

/** A live client, the number of its refused requests in a period, and when the last one happened. */
export interface RefusedClient {
  id: string;
  name: string;
  refused: number;
  lastAt: Date;
}

/** How often something happened in one hour, in total. */
export interface HourlyTotal {
  hour: Date;
  kind: ActivityKind;
  count: number;
}

/** The kinds of events that are counted. */
export type ActivityKind =
  | 'token_issued'
  | 'token_refused'
  | 'bearer_refused'
  | 'rate_limited'
  | 'rate_limit_near'
  | 'request'
  | 'sign_in'
  | 'sign_in_refused';

/** The kinds that are refusals of a client's requests. */
export const REFUSALS: ActivityKind[] = ['token_refused', 'bearer_refused', 'rate_limited'];

/** Why a client could not authenticate. */
export const CREDENTIALS_REFUSALS = [
  'unknown_client',
  'client_disabled',
  'owner_not_operator',
  'wrong_secret',
  'expired_secret',
  'no_secret',
  'secret_of_public_client',
  'secret_of_client_with_keys',
  'no_assertion',
  'assertion_malformed',
  'assertion_of_client_with_secret',
  'assertion_algorithm',
  'assertion_keys_unavailable',
  'assertion_key_unknown',
  'assertion_signature',
  'assertion_audience',
  'assertion_times',
  'assertion_expired',
  'assertion_without_id',
  'assertion_used',
  'no_credentials',
] as const;
export type CredentialsRefusal = (typeof CREDENTIALS_REFUSALS)[number];

/** Why a proof of possession of a key was refused (RFC 9449). */
export type ProofRefusal =
  | 'proof_missing'
  | 'proof_malformed'
  | 'proof_key'
  | 'proof_signature'
  | 'proof_of_another_request'
  | 'proof_of_another_token'
  | 'proof_of_another_key'
  | 'proof_time'
  | 'proof_nonce'
  | 'proof_used';

/** Why a request of an authenticated client to an OAuth endpoint was refused. */
export type TokenRefusal =
  | ProofRefusal
  | 'code_malformed'
  | 'code_unknown'
  | 'code_of_another_client'
  | 'redirect_uri_mismatch'
  | 'verifier_missing'
  | 'verifier_unexpected'
  | 'verifier_wrong'
  | 'code_expired'
  | 'code_used'
  | 'code_revoked'
  | 'refresh_token_malformed'
  | 'refresh_token_unknown'
  | 'refresh_token_of_another_client'
  | 'refresh_token_expired'
  | 'refresh_token_used'
  | 'refresh_token_replayed'
  | 'refresh_token_revoked'
  | 'sandbox_fault'
  | 'grant_ended'
  | 'consent_withdrawn'
  | 'scope_malformed'
  | 'scope_not_registered'
  | 'scope_not_granted'
  | 'scope_of_another_refresh'
  | 'resource_unknown'
  | 'resource_not_granted'
  | 'resource_of_another_refresh'
  | 'owner_disabled'
  | 'grant_type_not_registered';

/** Why a bearer token was refused. */
export type BearerRefusal =
  | ProofRefusal
  | 'no_token'
  | 'token_in_query'
  | 'token_bound'
  | 'token_not_bound'
  | 'token_malformed'
  | 'token_unknown'
  | 'token_forged'
  | 'token_key_revoked'
  | 'token_expired'
  | 'sandbox_fault'
  | 'token_revoked'
  | 'token_of_another_resource'
  | 'grant_expired'
  | 'client_disabled'
  | 'owner_disabled'
  | 'owner_not_operator'
  | 'user_disabled'
  | 'consent_withdrawn'
  | 'consent_expired'
  | 'scope_missing'
  | 'role_missing';

/** The client of an event. Sandbox events are left out of the metrics. */
export interface EventClient {
  id: string;
  environment: 'live' | 'sandbox';
}

/** An event to count. */
export interface ActivityEvent {
  kind: ActivityKind;
  /** The reason or subtype; from a fixed list, never from a request. */
  detail: string;
  /** If given, the client must exist. */
  client?: EventClient;
  address?: string;
  /** The request that was refused, in place of its address. */
  request?: Refusable;
}

/** A request with the reason why it was refused. */
export interface Refusable {
  ip: string;
  refusal?: Pick<ActivityEvent, 'kind' | 'detail'> & { clientId?: string; isOfSandbox: boolean };
}

declare module 'fastify' {
  interface FastifyRequest {
    refusal?: Refusable['refusal'];
  }
}

/** An event with its count and its last occurrence. */
export interface Counted {
  clientId: string;
  kind: ActivityKind;
  detail: string;
  count: number;
  lastAt: Date;
  lastAddress: string | null;
}

/** The same over several hours. */
export interface CountedSince extends Counted {
  /** The hour of the first occurrence. */
  firstHour: Date;
}

/** The total over all clients except those of sandboxes. */
export const EVERYBODY = 'all';

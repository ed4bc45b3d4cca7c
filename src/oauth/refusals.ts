import type { TokenRefusal } from '../activity/activity.js';
import { OAuthError, type OAuthErrorCode } from './oauth-error.js';
import { describeScope } from './scope-parameter.js';

type InvalidGrant = Exclude<TokenRefusal, 'owner_disabled' | 'grant_type_not_registered' | `scope_${string}`>;

const CODE_UNKNOWN = 'The code is unknown: it was not issued to this client, or it expired some time ago.';
const REFRESH_TOKEN_UNKNOWN =
  'The refresh token is unknown: it was not issued to this client, or it ended some time ago.';

/**
 * What an authenticated client is told about its own code or refresh token (contract §4). What belongs to another client gets the
 * same description as what does not exist. Why a user or a consent ended is not disclosed to the client.
 */
const INVALID_GRANT: Record<InvalidGrant, string> = {
  code_malformed: 'The code is malformed: it was truncated or changed in transit.',
  code_unknown: CODE_UNKNOWN,
  code_of_another_client: CODE_UNKNOWN,
  redirect_uri_mismatch: 'The code was issued for a different redirect_uri than the one in this request.',
  verifier_missing: 'The code was requested with a code_challenge, but the code_verifier is missing.',
  verifier_unexpected: 'The code was requested without a code_challenge, so no code_verifier may be sent.',
  verifier_wrong: 'The code_verifier does not match the code_challenge of the code.',
  code_expired: 'The code has expired.',
  code_used: 'The code was already used. Every token issued for it is revoked.',
  code_revoked: 'The code was revoked.',
  refresh_token_malformed: 'The refresh token is malformed: it was truncated or changed in transit.',
  refresh_token_unknown: REFRESH_TOKEN_UNKNOWN,
  refresh_token_of_another_client: REFRESH_TOKEN_UNKNOWN,
  refresh_token_expired: 'The refresh token has expired.',
  refresh_token_used: 'The refresh token was already used: use the one that replaced it.',
  refresh_token_replayed:
    'The refresh token was already used, too long ago for a retry. Every token of its grant is revoked.',
  refresh_token_revoked: 'The refresh token was revoked, with every token of its grant.',
  grant_ended: 'The grant of the refresh token has ended: the user has to authorize the client again.',
  consent_withdrawn: 'The user no longer consents to any of the requested scopes.',
};

/** The error for a code or refresh token that is refused, with the reason. */
export const invalidGrant = (reason: InvalidGrant): OAuthError =>
  refusal('invalid_grant', INVALID_GRANT[reason], reason);

/** The scope parameter is not a list of names separated by single spaces (RFC 6749 §3.3). */
export const malformedScope = (): OAuthError =>
  refusal(
    'invalid_scope',
    'The scope must be a list of names separated by single spaces.',
    'scope_malformed',
  );

/** Names the first scope that the client is not registered for. */
export const scopeNotRegistered = (scope: string): OAuthError =>
  refusal('invalid_scope', notRegisteredFor(scope), 'scope_not_registered');

export const notRegisteredFor = (scope: string): string =>
  `The client is not registered for ${describeScope(scope)}.`;

/** Names the first scope that the user did not grant. */
export const scopeNotGranted = (scope: string): OAuthError =>
  refusal('invalid_scope', `The user did not grant ${describeScope(scope)}.`, 'scope_not_granted');

/** A retried refresh asks for a different scope than the request it repeats. */
export const scopeOfAnotherRefresh = (): OAuthError =>
  refusal(
    'invalid_scope',
    'The refresh token was just used with a different scope: repeat that request unchanged.',
    'scope_of_another_refresh',
  );

export const ownerDisabled = (): OAuthError =>
  refusal('unauthorized_client', 'The owner of this client is disabled.', 'owner_disabled');

export const grantTypeNotRegistered = (): OAuthError =>
  refusal(
    'unauthorized_client',
    'The client is not registered for this grant type.',
    'grant_type_not_registered',
  );

const refusal = (code: OAuthErrorCode, description: string, reason: TokenRefusal): OAuthError =>
  new OAuthError(code, description, 400, {}, reason);

import type { TokenRefusal } from '#records/activity/activity.js';
import { OAuthError, type OAuthErrorCode } from './oauth-error.js';
import { describeScope } from './scope-parameter.js';

type InvalidGrant = Exclude<
  TokenRefusal,
  | 'owner_disabled'
  | 'grant_type_not_registered'
  | 'verifier_unexpected'
  | `scope_${string}`
  | `resource_${string}`
>;

/**
 * A code or refresh token that is refused. The description is for the client, which learns everything about its own code or token
 * (contract §4) and nothing about those of others; the reason is for operators.
 */
export const invalidGrant = (reason: InvalidGrant, description: string): OAuthError =>
  refusal('invalid_grant', description, reason);

/** OAuth 2.1 §4.1.3: the code was requested without a challenge. */
export const unexpectedVerifier = (): OAuthError =>
  refusal(
    'invalid_request',
    'The code was requested without a code_challenge, so no code_verifier may be sent.',
    'verifier_unexpected',
  );

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

/** RFC 8707 §2: the resource is malformed or unknown. */
export const unknownResource = (description: string): OAuthError =>
  refusal('invalid_target', description, 'resource_unknown');

/** RFC 8707 §2.2: a token request narrows what was authorized, and never widens it. */
export const resourceNotGranted = (): OAuthError =>
  refusal(
    'invalid_target',
    'A resource was not among those of the authorization request.',
    'resource_not_granted',
  );

/** A retried refresh asks for other resources than the request it repeats. */
export const resourceOfAnotherRefresh = (): OAuthError =>
  refusal(
    'invalid_target',
    'The refresh token was just used for other resources: repeat that request unchanged.',
    'resource_of_another_refresh',
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

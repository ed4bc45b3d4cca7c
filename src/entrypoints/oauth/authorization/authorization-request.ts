import type { ClientEntity } from '#access/clients/client.entity.js';
import type { AuthenticationRequest } from './authentication-request.js';
import type { Pushed } from '../par/pushed-requests.service.js';
import type { AUTHORIZATION_ERROR_KINDS } from '#platform/http/problems/oauth-error-kinds.js';

/** Error codes of the authorization response (RFC 6749 §4.1.2.1). */
export type AuthorizationErrorCode = keyof typeof AUTHORIZATION_ERROR_KINDS;

/** Those with which the request itself is refused. */
type RequestErrorCode = Exclude<
  AuthorizationErrorCode,
  'access_denied' | 'unmet_authentication_requirements'
>;

/** A valid request, ready to be shown to the user. */
export interface AuthorizationRequest {
  client: ClientEntity;
  redirectUri: string;
  scopes: string[];
  state: string | undefined;
  codeChallenge: string | null;
  /** What the tokens will be for (RFC 8707); null for everything. */
  resources: string[] | null;
  /** What it asks of the login (RFC 9470); undefined for nothing. */
  authentication: AuthenticationRequest | undefined;
  /** The thumbprint of the key that the code is to be bound to (RFC 9449 §10); null for none. */
  dpopJkt: string | null;
  /** If it was pushed (RFC 9126): the decision uses it up. */
  pushed?: Pushed;
  /** The query string as sent; the consent form posts it back. */
  source: string;
}

/**
 * The result of checking an authorization request: an error page because there is no safe place to redirect to, an error for the
 * redirect URI, or a valid request.
 */
export type CheckedRequest =
  | { outcome: 'page'; detail: string }
  | {
      outcome: 'redirect';
      redirectUri: string;
      state: string | undefined;
      error: RequestErrorCode;
      description: string;
    }
  | { outcome: 'request'; request: AuthorizationRequest };

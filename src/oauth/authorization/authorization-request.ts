import type { ClientEntity } from '../../clients/client.entity.js';

/** Error codes of the authorization response (RFC 6749 §4.1.2.1). */
export type AuthorizationErrorCode =
  'invalid_request' | 'unauthorized_client' | 'access_denied' | 'unsupported_response_type' | 'invalid_scope';

/** A request that may be shown to the user. */
export interface AuthorizationRequest {
  client: ClientEntity;
  redirectUri: string;
  scopes: string[];
  state: string | undefined;
  codeChallenge: string | null;
  /** The query string as it was sent: what the consent form posts back. */
  source: string;
}

/**
 * What the checks of an authorization request found: nowhere to send the browser (a page), a refusal to send to the
 * redirect URI, or a good request.
 */
export type CheckedRequest =
  | { outcome: 'page'; detail: string }
  | {
      outcome: 'redirect';
      redirectUri: string;
      state: string | undefined;
      error: AuthorizationErrorCode;
      description: string;
    }
  | { outcome: 'request'; request: AuthorizationRequest };

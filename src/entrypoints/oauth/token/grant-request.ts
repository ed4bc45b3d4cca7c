import type { Actor } from '#records/audit/audit.service.js';
import type { KnownClient } from '#access/clients/client-with-secrets.js';
import type { Form } from '#platform/http/forms/form.js';
import type { IssuedTokens } from '#access/tokens/grants/grant.js';

/** A token request of an authenticated client. */
export interface GrantRequest {
  client: KnownClient;
  form: Form;
  actor: Actor;
  /** The thumbprint of the key of its proof (RFC 9449), which the tokens are bound to; undefined without one. */
  jkt: string | undefined;
}

/** One `grant_type`: reads its parameters, decides, and returns tokens or throws an OAuthError. */
export interface TokenGrant {
  run(request: GrantRequest): Promise<IssuedTokens>;
}

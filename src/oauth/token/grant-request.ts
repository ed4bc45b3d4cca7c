import type { Actor } from '../../audit/audit.service.js';
import type { KnownClient } from '../../clients/client-with-secrets.js';
import type { Form } from '../../http/forms/form.js';
import type { IssuedTokens } from '../../tokens/grants/issued-tokens.js';

/** A token request of an authenticated client. */
export interface GrantRequest {
  client: KnownClient;
  form: Form;
  actor: Actor;
}

/** One `grant_type`: reads its parameters, decides, and returns tokens or throws an OAuthError. */
export interface TokenGrant {
  run(request: GrantRequest): Promise<IssuedTokens>;
}

import { Injectable } from '@nestjs/common';
import { AccessTokensService } from '../../tokens/access-tokens.service.js';
import type { IssuedTokens } from '../../tokens/issued-tokens.js';
import { invalidScope, OAuthError } from '../oauth-error.js';
import { parseScope } from '../scope-parameter.js';
import type { GrantRequest, TokenGrant } from './grant-request.js';

/** RFC 6749 §4.4: a token in the client's own name, without a refresh token (§4.4.3). */
@Injectable()
export class ClientCredentialsGrant implements TokenGrant {
  constructor(private readonly accessTokens: AccessTokensService) {}

  async run({ client, form }: GrantRequest): Promise<IssuedTokens> {
    const scope = form.get('scope');
    // RFC 6749 §3.3: without the parameter, a pre-defined default: here all of the client's scopes.
    const scopes = scope === undefined ? client.scopes : parseScope(scope);
    if (!scopes || scopes.some((name) => !client.scopes.includes(name))) {
      throw invalidScope('The scope is malformed or more than the client was registered with.');
    }
    const tokens = await this.accessTokens.issueForClient(client.id, scopes);
    if (!tokens) throw new OAuthError('unauthorized_client', 'The owner of this client is disabled.');
    return tokens;
  }
}

import { Injectable } from '@nestjs/common';
import { AccessTokensService } from '#access/tokens/access/access-tokens.service.js';
import type { IssuedTokens } from '#access/tokens/grants/grant.js';
import { malformedScope, ownerDisabled, scopeNotRegistered } from '../refusals.js';
import { RequestedResources } from '../resources/requested-resources.service.js';
import { parseScope } from '../scope-parameter.js';
import type { GrantRequest, TokenGrant } from './grant-request.js';

/** RFC 6749 §4.4: an access token for the client itself, without a refresh token (§4.4.3). */
@Injectable()
export class ClientCredentialsGrant implements TokenGrant {
  constructor(
    private readonly accessTokens: AccessTokensService,
    private readonly resources: RequestedResources,
  ) {}

  async run({ client, form, jkt }: GrantRequest): Promise<IssuedTokens> {
    const scope = form.get('scope');
    // RFC 6749 §3.3: without the parameter a pre-defined default applies, here all scopes of the client.
    const scopes = scope === undefined ? client.scopes : parseScope(scope);
    if (!scopes) throw malformedScope();
    const beyond = scopes.find((name) => !client.scopes.includes(name));
    if (beyond !== undefined) throw scopeNotRegistered(beyond);
    const aud = this.resources.in(form);
    if (aud) await this.resources.require(aud, null);
    const more = { jkt, additions: aud && { aud } };
    const tokens = await this.accessTokens.issueForClient(client.id, scopes, more);
    if (!tokens) throw ownerDisabled();
    return tokens;
  }
}

import { Injectable } from '@nestjs/common';
import type { IssuedTokens } from '../../tokens/issued-tokens.js';
import { RefreshRotationService } from '../../tokens/refresh-rotation.service.js';
import { invalidRequest } from '../oauth-error.js';
import { invalidGrant, malformedScope, scopeNotGranted, scopeOfAnotherRefresh } from '../refusals.js';
import { parseScope } from '../scope-parameter.js';
import type { GrantRequest, TokenGrant } from './grant-request.js';

/** RFC 6749 §6. The rotation itself is in tokens/refresh-rotation.service.ts. */
@Injectable()
export class RefreshTokenGrant implements TokenGrant {
  constructor(private readonly rotation: RefreshRotationService) {}

  async run({ client, form, actor }: GrantRequest): Promise<IssuedTokens> {
    const token = form.get('refresh_token');
    if (token === undefined) throw invalidRequest('The parameter refresh_token is required.');
    const scope = form.get('scope');
    const scopes = scope === undefined ? undefined : parseScope(scope);
    if (scope !== undefined && !scopes) throw malformedScope();
    const result = await this.rotation.refresh(token, client.id, scopes, actor);
    if (!('refused' in result)) return result;
    const { refused } = result;
    if (refused === 'scope_not_granted') throw scopeNotGranted(result.scope);
    if (refused === 'scope_of_another_refresh') throw scopeOfAnotherRefresh();
    throw invalidGrant(refused);
  }
}

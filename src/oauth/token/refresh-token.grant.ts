import { Injectable } from '@nestjs/common';
import type { IssuedTokens } from '../../tokens/issued-tokens.js';
import { RefreshRotationService } from '../../tokens/refresh-rotation.service.js';
import { invalidGrant, invalidRequest, invalidScope } from '../oauth-error.js';
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
    if (scope !== undefined && !scopes) throw invalidScope('The scope is malformed.');
    const result = await this.rotation.refresh(token, client.id, scopes, actor);
    if (!('refused' in result)) return result;
    if (result.refused === 'invalid_scope') {
      throw invalidScope(
        'The scope is more than was granted, or another than in the request that this one repeats.',
      );
    }
    throw invalidGrant(
      'The refresh token is unknown, expired, revoked or used, or was issued to another client.',
    );
  }
}

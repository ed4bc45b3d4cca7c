import { Injectable } from '@nestjs/common';
import type { Actor } from '../audit/audit.service.js';
import { digestOf, isSecret } from '../secrets/tokens.js';
import { AccessTokensService } from './access-tokens.service.js';
import { GrantsService } from './grants.service.js';
import { RefreshTokensRepository } from './refresh-tokens.repository.js';

/** Revocation by the client itself (RFC 7009). */
@Injectable()
export class TokenRevocationService {
  constructor(
    private readonly accessTokens: AccessTokensService,
    private readonly refreshTokens: RefreshTokensRepository,
    private readonly grants: GrantsService,
  ) {}

  /**
   * Revokes a token of this client: an access token goes alone, a refresh token takes its whole grant along. Unknown,
   * already revoked and other clients' tokens are left as they are, without a word. The token's own prefix says its
   * kind, so no hint is needed.
   */
  async revoke(token: string, clientId: string, actor: Actor): Promise<void> {
    if (isSecret('accessToken', token)) {
      await this.accessTokens.revoke(token, clientId);
    } else if (isSecret('refreshToken', token)) {
      const grantId = await this.refreshTokens.grantOf(digestOf(token), clientId);
      if (grantId) await this.grants.revokeIfLive(grantId, 'token_revoked', actor);
    }
  }
}

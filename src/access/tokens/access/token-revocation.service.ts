import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { AccessTokensService } from './access-tokens.service.js';
import { GrantsService } from '../grants/grants.service.js';
import { RefreshTokensService } from '../refresh/refresh-tokens.service.js';
import { TOKEN_PREFIXES } from '../keys/token-record.js';

/** Revocation by the client itself (RFC 7009). */
@Injectable()
export class TokenRevocationService {
  constructor(
    private readonly accessTokens: AccessTokensService,
    private readonly refreshTokens: RefreshTokensService,
    private readonly grants: GrantsService,
  ) {}

  /**
   * Revokes a token of this client: an access token alone, a refresh token with its whole grant. Unknown, already revoked and
   * other clients' tokens are silently left as they are. The token's prefix says its kind, so no hint is needed.
   */
  async revoke(token: string, clientId: string, actor: Actor): Promise<void> {
    if (token.startsWith(TOKEN_PREFIXES.access)) {
      await this.accessTokens.revoke(token, clientId);
    } else if (token.startsWith(TOKEN_PREFIXES.refresh)) {
      const grantId = await this.refreshTokens.grantOf(token, clientId);
      if (grantId) await this.grants.revokeIfLive(grantId, 'token_revoked', actor);
    }
  }
}

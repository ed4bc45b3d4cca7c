import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { AccessChanges, type Stamp } from '#platform/database/changes/access-changes.service.js';
import { GrantTokens } from '../grants/grant-tokens.service.js';
import type { IssuedTokens } from '../grants/grant.js';
import { RefreshTokensRepository, type FoundGrant } from './refresh-tokens.repository.js';
import { TokenKeysService } from '../keys/token-keys.service.js';
import { openRefreshToken, type RefreshTokenRecord } from '../keys/token-record.js';

/** The grant that a refresh token belongs to. */
export interface GrantOfToken extends FoundGrant {
  /** When the grant was read: the position of the data it is based on. */
  seen: Stamp;
}

/** Finds and rotates refresh tokens. entrypoints/oauth/token/refresh-token.grant.ts decides what each use means. */
@Injectable()
export class RefreshTokensService {
  constructor(
    private readonly repository: RefreshTokensRepository,
    private readonly tokens: GrantTokens,
    private readonly keys: TokenKeysService,
    private readonly changes: AccessChanges,
    private readonly settings: Settings,
  ) {}

  /** The contents of a refresh token, or why it is not valid. */
  open(token: string) {
    return this.keys.open(token, openRefreshToken);
  }

  /** The grant of a refresh token, whatever the token's generation. */
  async find(record: RefreshTokenRecord): Promise<GrantOfToken | undefined> {
    const { era } = this.changes;
    const found = await this.repository.find({ grace: this.settings.refreshGrace, ...record });
    if (!found) return undefined;
    // Not with Object.assign, which makes an object with this many members slow (docs/decisions/0008).
    const grant = found as GrantOfToken;
    grant.seen = { era, position: found.seenAt };
    return grant;
  }

  /** The id of the token's grant, if the token was issued to this client. */
  async grantOf(token: string, clientId: string): Promise<string | undefined> {
    const opened = await this.open(token);
    if ('refused' in opened) return undefined;
    const grant = await this.find(opened.record);
    return grant?.clientId === clientId && !grant.keyRevoked ? opened.record.grantId : undefined;
  }

  /**
   * Retires the token and returns its successor pair; undefined if the grant changed since it was found. The access token carries
   * the moment when it was found, because that is when its rights were known to be valid. `resources`: those asked for; `accessTokenLifetime`: of the
   * client.
   */
  async rotate(
    { grantId, generation }: RefreshTokenRecord,
    { clientId, userId, seen }: GrantOfToken,
    asked: string[],
    given: string[],
    resources: string[] | undefined,
    accessTokenLifetime: number | null,
  ): Promise<IssuedTokens | undefined> {
    const { accessTokenTtl, refreshTokenTtl: refreshTtl, refreshGrace: grace } = this.settings;
    const { id: keyId } = await this.keys.signing();
    const row = await this.repository.rotate({
      grantId,
      generation,
      keyId,
      ...seen,
      asked: asked.join(' '),
      given: given.join(' '),
      resources: resources?.join(' ') ?? '',
      refreshTtl,
      accessTtl: accessTokenLifetime ?? accessTokenTtl,
      grace,
    });
    return row && this.tokens.pairOf({ grantId, clientId, userId }, row, row.expiresIn);
  }

  /** The pair of the grant's current generation; undefined if its key is not available. */
  currentPair(grantId: string, grant: GrantOfToken): Promise<IssuedTokens | undefined> {
    const { clientId, userId, expiresIn } = grant;
    return this.tokens.pairOf({ grantId, clientId, userId }, grant, expiresIn);
  }
}

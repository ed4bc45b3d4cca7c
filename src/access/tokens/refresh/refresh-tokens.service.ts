import { Injectable } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
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

/** What a refresh gives. */
interface Refreshed {
  /** The scopes asked for, and those of the new access token. */
  asked: string[];
  given: string[];
  /** The resources asked for; undefined for all of the grant. */
  resources: string[] | undefined;
  /** Of the client, in seconds; null for that of the service. */
  accessTokenLifetime: number | null;
  /** The thumbprint of the key that the new tokens are bound to; undefined for none. */
  jkt: string | undefined;
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
   * the moment when it was found, because that is when its rights were known to be valid.
   */
  async rotate(
    record: RefreshTokenRecord,
    grant: GrantOfToken,
    refreshed: Refreshed,
  ): Promise<IssuedTokens | undefined> {
    const row = await this.repository.rotate(await this.written(record, grant, refreshed));
    const { clientId, userId } = grant;
    return row && this.tokens.pairOf({ grantId: record.grantId, clientId, userId }, row, row.expiresIn);
  }

  /** The same without a successor (FAPI 2.0 §5.3.2.1-9): another access token, with the refresh token as it was sent. */
  async prolong(
    refreshToken: string,
    record: RefreshTokenRecord,
    grant: GrantOfToken,
    refreshed: Refreshed,
  ): Promise<IssuedTokens | undefined> {
    const row = await this.repository.prolong(await this.written(record, grant, refreshed));
    if (!row) return undefined;
    const owner = { grantId: record.grantId, clientId: grant.clientId, userId: grant.userId };
    const serial = randomBytes(8).toString('hex');
    const tokens = await this.tokens.pairOf(owner, row, row.expiresIn, serial);
    return tokens && { ...tokens, refreshToken };
  }

  private async written(
    { grantId, generation }: RefreshTokenRecord,
    { seen }: GrantOfToken,
    { asked, given, resources, accessTokenLifetime, jkt = '' }: Refreshed,
  ) {
    const { accessTokenTtl, refreshTokenTtl: refreshTtl, refreshGrace: grace } = this.settings;
    const { id: keyId } = await this.keys.signing();
    return {
      grantId,
      generation,
      keyId,
      ...seen,
      asked: asked.join(' '),
      given: given.join(' '),
      resources: resources?.join(' ') ?? '',
      jkt,
      refreshTtl,
      accessTtl: accessTokenLifetime ?? accessTokenTtl,
      grace,
    };
  }

  /** The pair of the grant's current generation; undefined if its key is not available. */
  currentPair(grantId: string, grant: GrantOfToken): Promise<IssuedTokens | undefined> {
    const { clientId, userId, expiresIn } = grant;
    return this.tokens.pairOf({ grantId, clientId, userId }, grant, expiresIn);
  }
}

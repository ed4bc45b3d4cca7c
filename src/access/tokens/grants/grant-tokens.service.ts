import { Injectable } from '@nestjs/common';
import { ScopeNumbersService } from '#access/scopes/scope-numbers.service.js';
import type { IssuedTokens } from './grant.js';
import type { GenerationRow } from '../refresh/refresh-tokens.repository.js';
import { TokenKeysService } from '../keys/token-keys.service.js';
import { writeAccessToken, writeRefreshToken } from '../keys/token-record.js';

/** The grant, its client and its user. */
export interface GrantOwner {
  grantId: string;
  clientId: string;
  userId: string;
}

/**
 * Builds the pair of tokens that a grant's row stands for. The pair follows from the row and its key, so it can be built again.
 */
@Injectable()
export class GrantTokens {
  constructor(
    private readonly keys: TokenKeysService,
    private readonly scopeNumbers: ScopeNumbersService,
  ) {}

  /** Reads the numbers of these scopes unless they are cached, so that a pair can be built without a read that may fail. */
  async prepare(scopes: readonly string[]): Promise<void> {
    await this.scopeNumbers.learn(scopes);
  }

  /** The pair of this generation, or with a serial another access token of it; undefined if its key is not available. */
  async pairOf(
    { grantId, clientId, userId }: GrantOwner,
    row: GenerationRow,
    expiresIn: number,
    serial?: string,
  ): Promise<IssuedTokens | undefined> {
    const { generation, keyId, era, position, issuedAt, expiresAt, given, additions, endsAt } = row;
    if (!this.keys.secretOf(keyId)) await this.keys.refresh();
    const secret = this.keys.secretOf(keyId);
    if (!secret) return undefined;
    const scopes = await this.scopeNumbers.of(given);
    const stamp = { era, position };
    const ids = { keyId, grantId, generation, clientId, userId };
    const jkt = row.dpopJkt ?? undefined;
    const record = {
      ...{ ...ids, stamp, issuedAt, expiresAt, scopes, grantEndsAt: endsAt, jkt, serial },
      additions: additions ?? undefined,
    };
    return {
      accessToken: writeAccessToken({ kind: 'user', ...record }, secret),
      refreshToken: writeRefreshToken({ keyId, grantId, generation }, secret),
      scopes: given,
      expiresIn,
      refreshExpiresIn: row.refreshExpiresIn,
      authorizationExpiresIn: row.authorizationExpiresIn,
    };
  }
}

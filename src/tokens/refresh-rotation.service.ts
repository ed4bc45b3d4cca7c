import { Injectable } from '@nestjs/common';
import type { TokenRefusal } from '../activity/activity.js';
import { SERVICE_ACTOR, type Actor } from '../audit/audit.service.js';
import { Settings } from '../config/settings.js';
import { AccessChanges } from '../database/access-changes.service.js';
import { GrantTokens } from './grant-tokens.service.js';
import { GrantsService } from './grants.service.js';
import type { IssuedTokens } from './issued-tokens.js';
import { intersection } from './principal.js';
import { RefreshTokensRepository, type FoundGrant } from './refresh-tokens.repository.js';
import { TokenKeysService } from './token-keys.service.js';
import { openRefreshToken, type RefreshTokenRecord } from './token-record.js';

/** Why a refresh token is refused. */
type RefreshRefusal = Extract<TokenRefusal, `refresh_token_${string}` | 'grant_ended' | 'consent_withdrawn'>;

/** The result of a refresh; for a scope that was not granted, its name. */
type RefreshResult =
  | IssuedTokens
  | { refused: RefreshRefusal | 'scope_of_another_refresh' }
  | { refused: 'scope_not_granted'; scope: string };

const refuse = (refused: RefreshRefusal) => ({ refused });

/**
 * Rotates refresh tokens so that a client can retry after a lost response (contract §4). Every use retires the token and returns
 * a successor pair. Within the grace time the retired token returns that same pair; after it, using the retired token revokes the
 * whole grant (docs/decisions/0001-refresh-safe-to-retry.md).
 */
@Injectable()
export class RefreshRotationService {
  constructor(
    private readonly repository: RefreshTokensRepository,
    private readonly tokens: GrantTokens,
    private readonly keys: TokenKeysService,
    private readonly grants: GrantsService,
    private readonly changes: AccessChanges,
    private readonly settings: Settings,
  ) {}

  /** `scopes`: the scopes that the client asks for, narrower than the grant; undefined for everything granted. */
  async refresh(
    token: string,
    clientId: string,
    scopes: string[] | undefined,
    actor: Actor,
  ): Promise<RefreshResult> {
    const opened = await this.keys.open(token, openRefreshToken);
    if ('refused' in opened) {
      return refuse(opened.refused === 'malformed' ? 'refresh_token_malformed' : 'refresh_token_unknown');
    }
    const { record } = opened;
    // At most twice: a request that lost the rotation to a concurrent one finds the next generation on the second read.
    for (let look = 1; look <= 2; look++) {
      const { era } = this.changes;
      const found = await this.repository.find({ ...record, grace: this.settings.refreshGrace });
      // RFC 6749 §6: the refresh token is bound to the client to which it was issued. Another client learns nothing and ends
      // nothing.
      if (!found) return refuse('refresh_token_unknown');
      if (found.clientId !== clientId) return refuse('refresh_token_of_another_client');
      if (found.keyRevoked) return refuse('refresh_token_revoked');
      // A generation that does not exist yet: the database was restored to an earlier time.
      if (record.generation > found.generation) return refuse('refresh_token_unknown');
      const retired = record.generation < found.generation;
      if (retired && !found.inGrace) return this.endReplayed(record.grantId, actor);
      if (!found.grantLive) return refuse(found.grantRevoked ? 'refresh_token_revoked' : 'grant_ended');
      // RFC 6749 §6: the scope MUST NOT include any scope not originally granted by the resource owner.
      const beyond = scopes?.find((scope) => !found.grantScopes.includes(scope));
      if (beyond !== undefined) return { refused: 'scope_not_granted', scope: beyond };
      const asked = scopes ?? found.grantScopes;
      if (retired) return this.successorAgain(record, found, asked);
      if (found.expired) return refuse('refresh_token_expired');
      // The consent no longer covers what was granted: only the user can consent again.
      const given = intersection(asked, found.clientScopes, found.consentScopes);
      if (given.length === 0) return refuse('consent_withdrawn');
      const issued = await this.rotate(record, found, era, asked, given);
      if (issued) return issued;
    }
    // The grant ended between the read and the write.
    return refuse('grant_ended');
  }

  /** The grant of a refresh token of this client, whatever the token's generation. */
  async grantOf(token: string, clientId: string): Promise<string | undefined> {
    const opened = await this.keys.open(token, openRefreshToken);
    if ('refused' in opened) return undefined;
    const { grantId } = opened.record;
    const found = await this.repository.find({ ...opened.record, grace: 0 });
    return found?.clientId === clientId && !found.keyRevoked ? grantId : undefined;
  }

  /** The token carries the moment of the read, because that is when its rights were known to be valid. */
  private async rotate(
    { grantId, generation }: RefreshTokenRecord,
    { clientId, userId, seenAt }: FoundGrant,
    era: number,
    asked: string[],
    given: string[],
  ): Promise<IssuedTokens | undefined> {
    const { accessTokenTtl: accessTtl, refreshTokenTtl: refreshTtl, refreshGrace: grace } = this.settings;
    const { id: keyId } = await this.keys.signing();
    const row = await this.repository.rotate({
      grantId,
      generation,
      keyId,
      era,
      position: seenAt,
      asked,
      given,
      refreshTtl,
      accessTtl,
      grace,
    });
    return row && this.tokens.pairOf({ grantId, clientId, userId }, row, row.expiresIn);
  }

  /** The response was lost and the client retries: returns the same pair again, never a second one. */
  private async successorAgain(
    { grantId, generation }: RefreshTokenRecord,
    found: FoundGrant,
    asked: string[],
  ): Promise<RefreshResult> {
    // A late duplicate: the client already has the successor, since it used it or revoked its access token.
    if (found.generation > generation + 1 || found.accessRevoked) return refuse('refresh_token_used');
    if (!sameScopes(found.asked, asked)) return { refused: 'scope_of_another_refresh' };
    const { clientId, userId, expiresIn } = found;
    return (
      (await this.tokens.pairOf({ grantId, clientId, userId }, found, expiresIn)) ??
      refuse('refresh_token_used')
    );
  }

  /** A retired token after its grace time: it or its successor was stolen, so the whole family of tokens is revoked. */
  private async endReplayed(grantId: string, { address, requestId }: Actor): Promise<RefreshResult> {
    const actor = { ...SERVICE_ACTOR, address, requestId };
    await this.grants.revokeIfLive(grantId, 'refresh_token_replayed', actor);
    return refuse('refresh_token_replayed');
  }
}

const sameScopes = (a: string[], b: string[]): boolean =>
  a.length === b.length && a.every((scope) => b.includes(scope));

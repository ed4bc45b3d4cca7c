import { Injectable } from '@nestjs/common';
import { ActivityService } from '../activity/activity.service.js';
import { Settings } from '../config/settings.js';
import { AccessChanges } from '../database/access-changes.service.js';
import { Remembered, type Reading } from '../database/remembered.js';
import { USER_ID_PATTERN } from '../secrets/ids.js';
import { digestKey, digestOf, isSecret, newSecret } from '../secrets/tokens.js';
import { AccessTokensRepository } from './access-tokens.repository.js';
import { intersection, type Principal } from './principal.js';
import { SharedValues } from './shared-values.js';
import type { IssuedTokens } from './issued-tokens.js';

const REMEMBERED_TOKENS = 20_000;
// Clients, and the scopes that tokens have together.
const SHARED_VALUES = 2_000;

/** Access tokens: found, and issued for client credentials. */
@Injectable()
export class AccessTokensService {
  private readonly principals: Remembered<Principal>;
  private readonly shared = new SharedValues(SHARED_VALUES);

  constructor(
    private readonly repository: AccessTokensRepository,
    private readonly settings: Settings,
    private readonly activity: ActivityService,
    private readonly changes: AccessChanges,
  ) {
    this.principals = new Remembered(changes, REMEMBERED_TOKENS);
  }

  /** Who calls with this token; undefined where it is unknown, expired or revoked, or what it rests on is gone. */
  async find(token: string): Promise<Principal | undefined> {
    if (!isSecret('accessToken', token)) return undefined;
    const digest = digestOf(token);
    const key = digestKey(digest);
    return this.principals.get(key) ?? this.principals.read(key, () => this.readPrincipal(digest, key));
  }

  private async readPrincipal(digest: Buffer, key: string): Promise<Reading<Principal> | undefined> {
    const row = await this.repository.findLive(digest);
    if (!row) return undefined;
    const { userId, grantId, seconds } = row;
    const client = this.shared.of({
      id: row.clientId,
      name: row.clientName,
      type: row.clientType,
      ownerId: row.ownerId,
      rateLimit: row.rateLimit,
      webhooksEnabled: row.webhooksEnabled,
    });
    const value = {
      client,
      ...(userId === null ? {} : { userId }),
      ...(grantId === null ? {} : { grantId }),
      scopes: this.shared.of(
        intersection(row.scopes, row.clientScopes, ...(row.consentScopes ? [row.consentScopes] : [])),
      ),
      issuedAt: row.createdAt,
      expiresAt: row.expiresAt,
    };
    // An array that is made at once has room for what is in it alone.
    const restsOn =
      userId === null || grantId === null
        ? [key, client.id, client.ownerId]
        : [key, client.id, client.ownerId, userId, grantId];
    return { value, restsOn, seconds };
  }

  /** Counts a token that `find` found nothing for, with the reason: as precisely as it can be told while the token is kept. */
  async countRefusal(token: string, address: string): Promise<void> {
    const found = isSecret('accessToken', token)
      ? await this.repository.findRefused(digestOf(token))
      : ({ reason: 'token_malformed' } as const);
    const { reason, clientId } = { clientId: undefined, reason: 'token_unknown', ...found };
    this.activity.count({ kind: 'bearer_refused', detail: reason, clientId, address });
  }

  /** What a live token may do with one user's data: nothing, unless that user consented (contract §5). */
  async scopesForUser(principal: Principal, userId: string): Promise<readonly string[]> {
    if (principal.userId !== undefined) return principal.userId === userId ? principal.scopes : [];
    if (!USER_ID_PATTERN.test(userId)) return [];
    return intersection(principal.scopes, await this.repository.consentedScopes(principal.client.id, userId));
  }

  /** Issues a client-credentials token; undefined where the client or its owner has just been disabled. */
  async issueForClient(clientId: string, scopes: string[]): Promise<IssuedTokens | undefined> {
    const accessToken = newSecret('accessToken');
    const ttl = this.settings.accessTokenTtl;
    const digest = digestOf(accessToken);
    const stored = await this.repository.insertForClient({ digest, clientId, scopes, ttl });
    return stored ? { accessToken, expiresIn: ttl, scopes } : undefined;
  }

  /** Revokes the client's own live token; false where there is none. */
  async revoke(token: string, clientId: string): Promise<boolean> {
    const revoked = await this.repository.revoke(digestOf(token), clientId);
    if (revoked) await this.changes.catchUp();
    return revoked;
  }
}

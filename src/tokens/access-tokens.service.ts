import { Injectable } from '@nestjs/common';
import { ActivityService } from '../activity/activity.service.js';
import { Settings } from '../config/settings.js';
import { USER_ID_PATTERN } from '../secrets/ids.js';
import { digestOf, isSecret, newSecret } from '../secrets/tokens.js';
import { AccessTokensRepository } from './access-tokens.repository.js';
import { intersection, type Principal } from './principal.js';
import type { IssuedTokens } from './issued-tokens.js';

/** Access tokens: found, and issued for client credentials. */
@Injectable()
export class AccessTokensService {
  constructor(
    private readonly repository: AccessTokensRepository,
    private readonly settings: Settings,
    private readonly activity: ActivityService,
  ) {}

  /** Who calls with this token; undefined where it is unknown, expired or revoked, or what it rests on is gone. */
  async find(token: string): Promise<Principal | undefined> {
    if (!isSecret('accessToken', token)) return undefined;
    const row = await this.repository.findLive(digestOf(token));
    if (!row) return undefined;
    return {
      client: {
        id: row.clientId,
        name: row.clientName,
        type: row.clientType,
        ownerId: row.ownerId,
        rateLimit: row.rateLimit,
        webhooksEnabled: row.webhooksEnabled,
      },
      ...(row.userId === null ? {} : { userId: row.userId }),
      ...(row.grantId === null ? {} : { grantId: row.grantId }),
      scopes: intersection(row.scopes, row.clientScopes, ...(row.consentScopes ? [row.consentScopes] : [])),
      issuedAt: row.createdAt,
      expiresAt: row.expiresAt,
    };
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
  async scopesForUser(principal: Principal, userId: string): Promise<string[]> {
    if (principal.userId !== undefined) return principal.userId === userId ? principal.scopes : [];
    if (!USER_ID_PATTERN.test(userId)) return [];
    return intersection(principal.scopes, await this.repository.consentedScopes(principal.client.id, userId));
  }

  /** Issues a client-credentials token; undefined where the client or its owner has just been disabled. */
  async issueForClient(clientId: string, scopes: string[]): Promise<IssuedTokens | undefined> {
    const accessToken = newSecret('accessToken');
    const ttl = this.settings.accessTokenTtl;
    const stored = await this.repository.insertForClient(digestOf(accessToken), clientId, scopes, ttl);
    return stored ? { accessToken, expiresIn: ttl, scopes } : undefined;
  }
}

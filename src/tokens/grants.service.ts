import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService, type Actor } from '../audit/audit.service.js';
import { ClientsService } from '../clients/clients.service.js';
import { Transactions } from '../database/transactions.js';
import type { Page, PageRequest } from '../http/paging.js';
import { notFound } from '../http/problem.js';
import { MESSAGES } from '../notifications/message-catalogue.js';
import { NotificationsService } from '../notifications/notifications.service.js';
import { AccessEndings, type AccessEnding, type EndingReason } from '../users/access-endings.js';
import type { GrantEntity } from './grant.entity.js';
import { GrantsRepository, type GrantInList } from './grants.repository.js';

/** Grants: listed and revoked; and what ends here when a user, a client or a consent does. */
@Injectable()
export class GrantsService implements AccessEnding {
  constructor(
    private readonly repository: GrantsRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly clients: ClientsService,
    private readonly notifications: NotificationsService,
    endings: AccessEndings,
  ) {
    endings.add(this);
  }

  /** The live grants, by id. */
  listLive(filter: { clientId?: string; userId?: string }, page: PageRequest): Promise<Page<GrantInList>> {
    return this.repository.listLive(filter, page);
  }

  /** How many grants of a client or a user are live, counted up to a limit. */
  countLive(filter: { clientId: string } | { userId: string }, limit: number): Promise<number> {
    return this.repository.countLive(filter, limit);
  }

  /** Revokes one grant with all its tokens; the consent stays. Throws a 404 problem where there is no live one. */
  async revoke(id: string, reason: EndingReason, actor: Actor): Promise<void> {
    if (!(await this.revokeIfLive(id, reason, actor))) throw notFound('There is no live grant with this id.');
  }

  /** Revokes one grant with all its tokens; false where it had ended already. */
  revokeIfLive(id: string, reason: EndingReason, actor: Actor): Promise<boolean> {
    return this.transactions.run(async (manager) => {
      const [grant] = await this.repository.revoke(manager, { id }, reason);
      if (grant) await this.recordRevocation(manager, grant, reason, actor);
      if (grant && reason === 'refresh_token_replayed') await this.warnUser(manager, grant);
      return grant !== undefined;
    });
  }

  /** Ends the tokens, codes and unredeemed portal links that rest on a user, who stays signed in; how many grants that were. */
  revokeForUser(userId: string, actor: Actor): Promise<number> {
    return this.transactions.run(async (manager) => {
      const users: unknown[] = await manager.query('SELECT 1 FROM users WHERE id = $1 FOR NO KEY UPDATE', [
        userId,
      ]);
      if (users.length === 0) throw notFound('There is no user with this id.');
      const revoked = await this.endForUser(manager, userId, 'tokens_revoked');
      await this.audit.record(manager, actor, {
        action: 'user.tokens_revoked',
        subjectType: 'user',
        subjectId: userId,
        after: { revoked },
      });
      return revoked;
    });
  }

  async endForUser(manager: EntityManager, userId: string, reason: EndingReason): Promise<number> {
    await this.repository.deleteUnusedCodes(manager, { userId });
    return (await this.repository.revoke(manager, { userId }, reason)).length;
  }

  endForOwner(manager: EntityManager, userId: string): Promise<number> {
    return this.repository.revokeClientTokens(manager, { ownerId: userId });
  }

  async endForClient(manager: EntityManager, clientId: string, reason: EndingReason): Promise<number> {
    await this.repository.deleteUnusedCodes(manager, { clientId });
    const grants = await this.repository.revoke(manager, { clientId }, reason);
    return grants.length + (await this.repository.revokeClientTokens(manager, { clientId }));
  }

  async endForConsent(
    manager: EntityManager,
    clientId: string,
    userId: string,
    reason: EndingReason,
  ): Promise<number> {
    await this.repository.deleteUnusedCodes(manager, { clientId, userId });
    return (await this.repository.revoke(manager, { clientId, userId }, reason)).length;
  }

  /** About security, so for the user's own page alone: whoever replayed the token may be the one who reads. */
  private async warnUser(manager: EntityManager, grant: GrantEntity): Promise<void> {
    const client = await this.clients.find(grant.clientId, manager);
    await this.notifications.raise(
      manager,
      grant.userId,
      null,
      MESSAGES.refreshTokenReplayed(client?.name ?? grant.clientId),
    );
  }

  private recordRevocation(
    manager: EntityManager,
    grant: GrantEntity,
    reason: EndingReason,
    actor: Actor,
  ): Promise<void> {
    return this.audit.record(manager, actor, {
      action: 'grant.revoked',
      subjectType: 'grant',
      subjectId: grant.id,
      after: { reason, client_id: grant.clientId, user_id: grant.userId, scopes: grant.scopes },
    });
  }
}

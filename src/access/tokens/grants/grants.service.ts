import { Injectable } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { Settings } from '#platform/config/settings.js';
import type { ConsentChange, RevocationReason } from '#access/domain/domain-events.js';
import { OnDomainEvent, Answers } from '#platform/database/domain/domain-map.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { notFound } from '#platform/http/problems/problem.js';
import { say } from '#platform/language/text.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { AuthorizationCodesRepository } from '../codes/authorization-codes.repository.js';
import type { GrantEntity } from './grant.entity.js';
import { GrantsRepository } from './grants.repository.js';
import type { Grant, GrantInList } from './grant.js';
import { recordOf, section } from '#access/users/accounts/personal-data.js';

/** Lists and revokes grants, and ends what depends on a user, a client or a consent when those end. */
@Injectable()
export class GrantsService {
  constructor(
    private readonly repository: GrantsRepository,
    private readonly codes: AuthorizationCodesRepository,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly clients: ClientsService,
    private readonly notifications: NotificationsService,
    private readonly protection: OperatorProtectionService,
    private readonly settings: Settings,
  ) {}

  /** A grant, active or not. */
  find(id: string): Promise<GrantEntity | null> {
    return this.repository.find(id);
  }

  /** The active grants, by id. */
  listLive(filter: { clientId?: string; userId?: string }, page: PageRequest): Promise<Page<GrantInList>> {
    return this.repository.listLive(filter, page);
  }

  /** The number of active grants of a client or a user, counted up to a limit. */
  countLive(filter: { clientId: string } | { userId: string }, limit: number): Promise<number> {
    return this.repository.countLive(filter, limit);
  }

  /** Revokes one grant with all its tokens; the consent is kept. Throws a 404 problem if there is no such active grant. */
  async revoke(id: string, reason: RevocationReason, actor: Actor): Promise<void> {
    if (!(await this.revokeIfLive(id, reason, actor)))
      throw notFound('There is no active grant with this id.');
  }

  /** Revokes one grant with all its tokens; false if it had already ended. */
  revokeIfLive(id: string, reason: RevocationReason, actor: Actor): Promise<boolean> {
    return this.transactions.run(async () => {
      const [grant] = await this.repository.revoke({ id }, reason);
      if (!grant) return false;
      await this.protection.refuseOn(actor, grant.userId, [grant.clientId]);
      await this.recordRevocation(grant, reason, actor);
      if (reason === 'refresh_token_replayed') await this.warnUser(grant);
      return true;
    });
  }

  /** A grant ends no later than its consent, and is extended when the consent is renewed. */
  @OnDomainEvent('consents.changed', 1)
  async followConsents(changes: ConsentChange[]): Promise<void> {
    const { grantTtl, refreshTokenTtl } = this.settings;
    for (const { kind, clientId, userId, expiresAt } of changes) {
      if (kind !== 'granted' && kind !== 'changed') continue;
      await this.repository.endWith({ clientId, userId }, expiresAt, { grantTtl, refreshTokenTtl });
    }
  }

  /** Ends the tokens, codes and unredeemed portal links of a user, who stays logged in. Returns the number of grants revoked. */
  revokeForUser(userId: string, actor: Actor): Promise<number> {
    return this.transactions.run(async () => {
      if (!(await this.repository.lockUser(userId))) throw notFound('There is no user with this id.');
      await this.protection.refuseOn(actor, userId);
      const revoked = await this.revokeByUser(userId, 'tokens_revoked');
      await this.audit.record(actor, {
        action: 'user.tokens_revoked',
        subjectId: userId,
        after: { revoked },
      });
      if (actor.type !== 'service' && actor.id !== userId) {
        const done = [
          say(
            'An operator ended the access that applications had got when you logged in for them. They stay connected.',
          ),
        ];
        await this.notifications.raise(userId, null, MESSAGES.changedByOperator(done));
      }
      return revoked;
    });
  }

  @OnDomainEvent('user.access_ended')
  async revokeByUser(userId: string, reason: RevocationReason): Promise<number> {
    await this.codes.deleteUnused({ userId });
    return (await this.repository.revoke({ userId }, reason)).length;
  }

  @OnDomainEvent('owner.disabled', 3)
  revokeByOwner(ownerId: string): Promise<void> {
    return this.repository.revokeClientTokens({ ownerId });
  }

  /** Client-credentials tokens are not stored, so only the number of grants is known. */
  @OnDomainEvent('client.access_ended', 3)
  async revokeByClient(clientId: string, reason: RevocationReason): Promise<number> {
    await this.codes.deleteUnused({ clientId });
    await this.repository.revokeClientTokens({ clientId });
    return this.repository.revokeOfClient(clientId, reason);
  }

  @OnDomainEvent('consent.ended')
  async revokeByConsent(clientId: string, userId: string, reason: RevocationReason): Promise<number> {
    await this.codes.deleteUnused({ clientId, userId });
    return (await this.repository.revoke({ clientId, userId }, reason)).length;
  }

  /**
   * A security notification, so only for the user's own page: the client that reads notifications may be the one that replayed
   * the token.
   */
  private async warnUser(grant: Grant): Promise<void> {
    const client = await this.clients.find(grant.clientId);
    await this.notifications.raise(
      grant.userId,
      null,
      MESSAGES.refreshTokenReplayed(client?.name ?? grant.clientId, client ?? undefined),
    );
  }

  private recordRevocation(grant: Grant, reason: RevocationReason, actor: Actor): Promise<void> {
    return this.audit.record(actor, {
      action: 'grant.revoked',
      subjectId: grant.id,
      after: { reason, client_id: grant.clientId, user_id: grant.userId, scopes: grant.scopes },
    });
  }

  @Answers('user.personal_data')
  grantsOf() {
    return section({
      name: 'grants',
      place: 30,
      title: say('Access of applications'),
      about: say('Each time that you let an application in. Its tokens are not stored.'),
      read: (userId: string, limit: number) => this.recordsOf(userId, limit),
      columns: {
        [say('Application')]: ({ application }) => application,
        [say('Began')]: ({ created_at: at }) => at,
        [say('Last used')]: ({ last_used_at: at }) => at,
        [say('Ends at the latest')]: ({ expires_at: at }) => at,
        [say('Ended')]: ({ revoked_at: at }) => at,
      },
    });
  }

  private async recordsOf(userId: string, limit: number) {
    const found = await this.repository.listOf(userId, limit);
    const names = await this.clients.namesById(found.map(({ clientId }) => clientId));
    return found.map((grant) => ({
      application: names.get(grant.clientId) ?? null,
      last_used_at: grant.issuedAt,
      ...recordOf(
        grant,
        'id',
        'clientId',
        'scopes',
        'createdAt',
        'expiresAt',
        'revokedAt',
        'revocationReason',
      ),
    }));
  }
}

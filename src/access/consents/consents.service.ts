import { say } from '#platform/language/text.js';
import { Injectable } from '@nestjs/common';
import { AuditService, SERVICE_ACTOR, type Actor } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { Settings } from '#platform/config/settings.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import { notFound } from '#platform/http/problems/problem.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { OnDomainEvent } from '#platform/database/domain/domain-map.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { ConsentEntity, type ConsentedUser } from './consent.entity.js';
import { ConsentsRepository, type Ending } from './consents.repository.js';
import { auditViewOf } from '#records/audit/audit-view.js';

/** What the audit log shows of a consent. */
export const auditView = auditViewOf(
  ConsentEntity,
  {
    clientId: 'client_id',
    scopes: 'scopes',
    purposes: ['purposes', (purposes) => (purposes.length > 0 ? purposes : undefined)],
    wordsChanged: ['words_changed', (scopes) => (scopes.length > 0 ? scopes : undefined)],
    expiresAt: ['expires_at', (expiresAt) => expiresAt?.toISOString()],
    evidence: ['evidence', (evidence) => evidence ?? undefined],
  },
  {
    userId: 'the subject of the event',
    grantedAt: 'the time of consent.granted',
    revokedAt: 'the time of consent.revoked',
    method: 'in the record of consents, as all below',
    reason: 'see method',
    recordedBy: 'see method',
    language: 'see method',
    wordsDigest: 'see method',
  },
);

/** Which user consented to what for which client, and how that ends (contract §2). Every end is an audit event in its transaction. */
@Injectable()
export class ConsentsService {
  constructor(
    private readonly repository: ConsentsRepository,
    private readonly clients: ClientsService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly notifications: NotificationsService,
    private readonly events: DomainEvents,
    private readonly protection: OperatorProtectionService,
    private readonly settings: Settings,
  ) {}

  findLive(clientId: string, userId: string): Promise<ConsentEntity | null> {
    return this.repository.findLive(clientId, userId);
  }

  /**
   * What the user shares with the client now, and until when: undefined without an active consent, or while the user is disabled
   * (contract §4).
   */
  findSharing(
    clientId: string,
    userId: string,
  ): Promise<Pick<ConsentedUser, 'scopes' | 'expiresAt'> | undefined> {
    return this.repository.findUser({ clientId, userId });
  }

  /** The users who share data with the client, by id; with `userId`, only that user. */
  async listUsers(
    clientId: string,
    userId: string | undefined,
    page: PageRequest,
  ): Promise<Page<ConsentedUser>> {
    if (userId === undefined || page.after !== undefined || page.before !== undefined) {
      return this.repository.listLive(clientId, userId, page);
    }
    const user = await this.repository.findUser({ clientId, userId });
    return { items: user ? [user] : [], hasNext: false, hasPrevious: false };
  }

  /** The number of users with an active consent to the client, counted up to a limit; some may be disabled. */
  countLive(clientId: string, limit: number): Promise<number> {
    return this.repository.countLive(clientId, limit);
  }

  /** The number of users who share data with the client, counted up to a limit. */
  countSharing(clientId: string, limit: number): Promise<number> {
    return this.repository.countSharing(clientId, limit);
  }

  /** The ids of the clients that a user shares data with now; none of these consents ends before the transaction does. */
  lockClientsWithAccess(userId: string): Promise<string[]> {
    return this.repository.lockLiveClients(userId);
  }

  /** How many consents to the client end within the notice, counted up to a limit, and the day in UTC. */
  countEnding(clientId: string, limit: number): Promise<{ count: number; day: string }> {
    return this.repository.countEnding(clientId, { days: this.settings.consentNoticeDays, limit });
  }

  /** All consents of the client, including revoked ones; throws a 404 problem for an unknown client. */
  async list(clientId: string, page: PageRequest): Promise<Page<ConsentEntity>> {
    await this.clients.get(clientId);
    return this.repository.list(clientId, page);
  }

  /** All consents to these clients, ended ones too. */
  listAll(clientIds: string[]): Promise<ConsentEntity[]> {
    return this.repository.listAll(clientIds);
  }

  /** Revokes a consent and everything that depends on it, immediately; throws a 404 problem if there is no active one. */
  async revoke(clientId: string, userId: string, actor: Actor): Promise<void> {
    const ending = { method: 'operator', reason: 'revoked_by_operator', recordedBy: actor.id } as const;
    if ((await this.end(clientId, userId, ending, actor)) !== 'ended') {
      throw notFound('This user has no active consent to this client.');
    }
  }

  /** The user revokes a consent. Doing it twice has the same result; throws a 404 problem if the user never consented. */
  async withdraw(clientId: string, userId: string, actor: Actor): Promise<void> {
    const ending = { method: 'account', reason: 'withdrawn' } as const;
    if ((await this.end(clientId, userId, ending, actor)) === 'never given') {
      throw notFound(say('This application is not connected to your account.'));
    }
  }

  private end(
    clientId: string,
    userId: string,
    ending: Ending,
    actor: Actor,
  ): Promise<'ended' | 'ended before' | 'never given'> {
    return this.transactions.run(async () => {
      await this.protection.refuseOn(actor, userId);
      const before = await this.repository.lock(clientId, userId);
      if (!before) return 'never given';
      // It ended by itself, even if nobody has noticed yet.
      if (await this.expireAndNotify(before)) return 'ended before';
      if (!(await this.repository.end(clientId, userId, ending))) return 'ended before';
      await this.afterEnd(before, 'revoked', actor);
      return 'ended';
    });
  }

  /** Ends a consent whose time is over, with everything that depends on it; false if it was renewed or ended in the meantime. */
  expire(clientId: string, userId: string): Promise<boolean> {
    return this.transactions.run(async () => {
      const before = await this.repository.lock(clientId, userId);
      return before !== null && this.expireAndNotify(before);
    });
  }

  /** The same for a consent that is locked. */
  private async expireAndNotify(before: ConsentEntity): Promise<boolean> {
    if (!(await this.expireLocked(before))) return false;
    const client = await this.clients.get(before.clientId);
    const message = MESSAGES.consentExpired(client.name, client);
    await this.notifications.raise(before.userId, before.clientId, message);
    return true;
  }

  /** The same for what gives the consent again: the user is not notified. */
  async expireLocked(before: ConsentEntity): Promise<boolean> {
    if (!(await this.repository.expire(before.clientId, before.userId))) return false;
    await this.afterEnd(before, 'expired', SERVICE_ACTOR);
    return true;
  }

  private async afterEnd(before: ConsentEntity, kind: 'revoked' | 'expired', actor: Actor): Promise<void> {
    const { clientId, userId, expiresAt } = before;
    await this.events.say('consent.ended', clientId, userId, `consent_${kind}`);
    await this.audit.record(actor, {
      action: `consent.${kind}`,
      subjectId: userId,
      before: auditView(before),
    });
    const { requestId } = actor;
    await this.events.say('consents.changed', [{ kind, clientId, userId, scopes: [], expiresAt, requestId }]);
  }

  /**
   * Notifies each client that could read the user's data until now, once. Returns the ids of those clients, and of clients that
   * could read it earlier.
   */
  @OnDomainEvent('user.erased', 6)
  async revokeForErasure(userId: string): Promise<Record<string, unknown>> {
    const consents = await this.repository.endAll(userId);
    const idsWhere = (wasLive: boolean) =>
      consents.filter((consent) => consent.wasLive === wasLive).map(({ clientId }) => clientId);
    const clients = idsWhere(true);
    await this.events.say(
      'consents.changed',
      clients.map((clientId) => ({ kind: 'revoked', clientId, userId, scopes: [], expiresAt: null })),
    );
    return { clients, former_clients: idsWhere(false) };
  }
}

import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService, changesBetween, type Actor } from '../audit/audit.service.js';
import { auditViewOf } from '../audit/audit-view.js';
import type { ClientEntity } from '../clients/client.entity.js';
import { clientNotFound, ClientsService } from '../clients/clients.service.js';
import { isForeignKeyViolation } from '../database/queries/database-errors.js';
import { Transactions } from '../database/queries/transactions.js';
import type { Page, PageRequest } from '../database/queries/read-page.js';
import { conflict, notFound, validationFailed } from '../http/problems/problem.js';
import { MESSAGES } from '../notifications/message-catalogue.js';
import { NotificationsService } from '../notifications/notifications.service.js';
import { ScopesService } from '../scopes/scopes.service.js';
import { AccessRevocations } from '../users/accounts/access-revocations.js';
import { UserErasures } from '../users/accounts/user-erasures.js';
import { OperatorProtection } from '../users/accounts/operator-protection.service.js';
import { UsersService } from '../users/accounts/users.service.js';
import { ConsentEvents } from './consent-events.js';
import { ConsentEntity } from './consent.entity.js';
import { realmOf } from '../users/accounts/environment.js';
import { ConsentsRepository } from './consents.repository.js';
import type { ConsentedUser } from './consented-user.js';
import { violation } from '../http/problems/violation.js';

/** Which user consented to what for which client (contract §2). Every change is an audit event in its transaction. */
@Injectable()
export class ConsentsService {
  constructor(
    private readonly repository: ConsentsRepository,
    private readonly clients: ClientsService,
    private readonly scopes: ScopesService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly revocations: AccessRevocations,
    private readonly notifications: NotificationsService,
    private readonly events: ConsentEvents,
    private readonly users: UsersService,
    private readonly protection: OperatorProtection,
    erasures: UserErasures,
  ) {
    erasures.add((manager, userId) => this.revokeForErasure(manager, userId));
  }

  findLive(clientId: string, userId: string): Promise<ConsentEntity | null> {
    return this.repository.findLive(clientId, userId);
  }

  /** What the user shares with the client now: nothing without an active consent, or while the user is disabled (contract §4). */
  async scopesShared(clientId: string, userId: string): Promise<readonly string[]> {
    return (await this.repository.findUser({ clientId, userId }))?.scopes ?? [];
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

  /** The number of users who share data with the client, counted up to a limit. */
  countLive(clientId: string, limit: number): Promise<number> {
    return this.repository.countLive(clientId, limit);
  }

  /** All consents of the client, including revoked ones; throws a 404 problem for an unknown client. */
  async list(clientId: string, page: PageRequest): Promise<Page<ConsentEntity>> {
    await this.clients.get(clientId);
    return this.repository.list(clientId, page);
  }

  /** A user's approval: adds the scopes to the consent in the caller's transaction, and never removes any. */
  async approve(
    manager: EntityManager,
    client: ClientEntity,
    userId: string,
    scopes: string[],
    actor: Actor,
  ): Promise<void> {
    const clientId = client.id;
    const before = await this.repository.lockPair(manager, clientId, userId);
    await this.repository.add(manager, { clientId, userId, realm: realmOf(client) }, scopes);
    await this.recordChange(manager, before, clientId, userId, actor);
    if (before !== null && before.revokedAt === null) return;
    const message = MESSAGES.applicationConnected(client.name);
    await this.notifications.raise(manager, userId, null, message);
  }

  /**
   * Records a consent that was given elsewhere, for an operator: it replaces the earlier one, and the user is notified. Throws
   * 404 for an unknown client or user, 409 for a user of another environment or of another owner's sandbox, and 400 for a scope
   * that the client does not have or that users cannot give.
   */
  async record(
    clientId: string,
    userId: string,
    scopes: string[],
    evidence: string | null,
    actor: Actor,
  ): Promise<ConsentEntity> {
    const client = await this.clients.get(clientId);
    await this.checkScopes(client.scopes, scopes);
    try {
      return await this.transactions.run(async (manager) => {
        await this.protection.refuseOn(actor, userId, manager);
        const before = await this.repository.lockPair(manager, clientId, userId);
        const pair = { clientId, userId, realm: realmOf(client) };
        await this.repository.replace(manager, pair, scopes, evidence);
        const consent = await this.recordChange(manager, before, clientId, userId, actor);
        await this.notifications.raise(manager, userId, clientId, MESSAGES.consentRecorded(client.name));
        return consent;
      });
    } catch (error) {
      if (isForeignKeyViolation(error, 'consents_user_id_fkey')) {
        throw notFound('There is no user with this id.');
      }
      // The client may have been deleted since it was read; PostgreSQL chose this name.
      if (
        ['consents_client_id_fkey', 'consents_client_realm_fkey'].some((key) =>
          isForeignKeyViolation(error, key),
        )
      ) {
        throw clientNotFound();
      }
      if (isForeignKeyViolation(error, 'consents_user_realm_fkey')) {
        await this.users.get(userId);
        throw conflict(
          'The client and the user are not in the same environment, or in sandboxes of different owners.',
        );
      }
      throw error;
    }
  }

  /** Revokes a consent and everything that depends on it, immediately; throws a 404 problem if there is no active one. */
  async revoke(clientId: string, userId: string, actor: Actor): Promise<void> {
    if ((await this.end(clientId, userId, actor)) !== 'ended') {
      throw notFound('This user has no active consent to this client.');
    }
  }

  /** The user revokes a consent. Doing it twice has the same result; throws a 404 problem if the user never consented. */
  async withdraw(clientId: string, userId: string, actor: Actor): Promise<void> {
    if ((await this.end(clientId, userId, actor)) === 'never given') {
      throw notFound('This application is not connected to your account.');
    }
  }

  private end(
    clientId: string,
    userId: string,
    actor: Actor,
  ): Promise<'ended' | 'ended before' | 'never given'> {
    return this.transactions.run(async (manager) => {
      await this.protection.refuseOn(actor, userId, manager);
      const before = await this.repository.lock(manager, clientId, userId);
      if (!before) return 'never given';
      if (!(await this.repository.revoke(manager, clientId, userId))) return 'ended before';
      await this.revocations.revokeByConsent(manager, clientId, userId, 'consent_revoked');
      await this.audit.record(manager, actor, {
        action: 'consent.revoked',
        subjectType: 'consent',
        subjectId: userId,
        before: auditView(before),
      });
      await this.events.tell(manager, [{ kind: 'revoked', clientId, userId, scopes: [] }]);
      return 'ended';
    });
  }

  /**
   * Notifies each client that could read the user's data until now, once. Returns the ids of those clients, and of those that
   * could before.
   */
  private async revokeForErasure(manager: EntityManager, userId: string): Promise<Record<string, unknown>> {
    const consents = await this.repository.revokeAll(manager, userId);
    const idsWhere = (wasLive: boolean) =>
      consents.filter((consent) => consent.wasLive === wasLive).map(({ clientId }) => clientId);
    const clients = idsWhere(true);
    await this.events.tell(
      manager,
      clients.map((clientId) => ({ kind: 'revoked', clientId, userId, scopes: [] })),
    );
    return { clients, former_clients: idsWhere(false) };
  }

  private async checkScopes(allowed: string[], scopes: string[]): Promise<void> {
    const known = await this.scopes.describe(scopes);
    const wrong = scopes.flatMap((name, index) => {
      const audience = known.find((scope) => scope.name === name)?.audience;
      return allowed.includes(name) && audience === 'partner' ? [] : [index + 1];
    });
    if (wrong.length > 0) {
      throw validationFailed({
        scopes: wrong.map((place) => violation('not_grantable_scope', { place })),
      });
    }
  }

  private async recordChange(
    manager: EntityManager,
    before: ConsentEntity | null,
    clientId: string,
    userId: string,
    actor: Actor,
  ): Promise<ConsentEntity> {
    const after = (await this.repository.findLive(clientId, userId, manager))!;
    const live = before !== null && before.revokedAt === null;
    const difference = live ? changesBetween(auditView(before), auditView(after)) : undefined;
    if (!live || difference) {
      await this.audit.record(manager, actor, {
        action: live ? 'consent.updated' : 'consent.granted',
        subjectType: 'consent',
        subjectId: userId,
        ...(live ? { before: auditView(before) } : {}),
        after: auditView(after),
      });
    }
    if (!live || before.scopes.join() !== after.scopes.join()) {
      await this.events.tell(manager, [{ kind: 'granted', clientId, userId, scopes: after.scopes }]);
    }
    return after;
  }
}

const auditView = auditViewOf(
  ConsentEntity,
  {
    clientId: 'client_id',
    scopes: 'scopes',
    evidence: ['evidence', (evidence) => evidence ?? undefined],
  },
  {
    userId: 'the subject of the event',
    grantedAt: 'the time of consent.granted',
    revokedAt: 'the time of consent.revoked',
  },
);

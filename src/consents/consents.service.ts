import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditService, changesBetween, type Actor } from '../audit/audit.service.js';
import { ClientsService } from '../clients/clients.service.js';
import { isForeignKeyViolation } from '../database/database-errors.js';
import { Transactions } from '../database/transactions.js';
import type { Page, PageRequest } from '../http/paging.js';
import { notFound, validationFailed } from '../http/problem.js';
import { MESSAGES } from '../notifications/message-catalogue.js';
import { NotificationsService } from '../notifications/notifications.service.js';
import { ScopesService } from '../scopes/scopes.service.js';
import { AccessEndings } from '../users/access-endings.js';
import { ConsentEvents } from './consent-events.js';
import type { ConsentEntity } from './consent.entity.js';
import { ConsentsRepository, type ConsentedUser } from './consents.repository.js';

/** Which user agreed to what with which client (contract §2). Every change is an audit event in its transaction. */
@Injectable()
export class ConsentsService {
  constructor(
    private readonly repository: ConsentsRepository,
    private readonly clients: ClientsService,
    private readonly scopes: ScopesService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly endings: AccessEndings,
    private readonly notifications: NotificationsService,
    private readonly events: ConsentEvents,
  ) {}

  findLive(clientId: string, userId: string): Promise<ConsentEntity | null> {
    return this.repository.findLive(clientId, userId);
  }

  /** The users who share data with the client, by id; with `userId`, that one alone. */
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

  /** How many users share data with the client, counted up to a limit. */
  countLive(clientId: string, limit: number): Promise<number> {
    return this.repository.countLive(clientId, limit);
  }

  /** Every consent of the client, revoked ones too; throws a 404 problem for an unknown client. */
  async list(clientId: string, page: PageRequest): Promise<Page<ConsentEntity>> {
    await this.clients.get(clientId);
    return this.repository.list(clientId, page);
  }

  /** A user's approval: adds the scopes to what was agreed before, in the caller's transaction; never takes any away. */
  async approve(
    manager: EntityManager,
    clientId: string,
    userId: string,
    scopes: string[],
    actor: Actor,
  ): Promise<void> {
    const before = await this.repository.lock(manager, clientId, userId);
    await this.repository.add(manager, clientId, userId, scopes);
    await this.recordChange(manager, before, clientId, userId, actor);
  }

  /**
   * An operator's record of a consent that was given elsewhere: replaces what stood before; the user is notified. Throws 404 for an unknown
   * client or user, and 400 for a scope that the client does not have or that no user can give.
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
        const before = await this.repository.lock(manager, clientId, userId);
        await this.repository.replace(manager, clientId, userId, scopes, evidence);
        const consent = await this.recordChange(manager, before, clientId, userId, actor);
        await this.notifications.raise(manager, userId, clientId, MESSAGES.consentRecorded(client.name));
        return consent;
      });
    } catch (error) {
      if (isForeignKeyViolation(error, 'consents_user_id_fkey')) {
        throw notFound('There is no user with this id.');
      }
      // The client may have been deleted since it was read; PostgreSQL chose this name.
      if (isForeignKeyViolation(error, 'consents_client_id_fkey')) {
        throw notFound('There is no client with this id.');
      }
      throw error;
    }
  }

  /** Takes a consent back and ends what rests on it, at once; throws a 404 problem where there is no live one. */
  async revoke(clientId: string, userId: string, actor: Actor): Promise<void> {
    if ((await this.end(clientId, userId, actor)) !== 'ended') {
      throw notFound('This user has no live consent to this client.');
    }
  }

  /**
   * The user's own taking back of a consent. Pressed twice it is as good as once; throws a 404 problem where the user
   * never agreed to the client.
   */
  async withdraw(clientId: string, userId: string, actor: Actor): Promise<void> {
    if ((await this.end(clientId, userId, actor)) === 'never given') {
      throw notFound('You did not connect this application.');
    }
  }

  private end(
    clientId: string,
    userId: string,
    actor: Actor,
  ): Promise<'ended' | 'ended before' | 'never given'> {
    return this.transactions.run(async (manager) => {
      const before = await this.repository.lock(manager, clientId, userId);
      if (!before) return 'never given';
      if (!(await this.repository.revoke(manager, clientId, userId))) return 'ended before';
      await this.endings.endForConsent(manager, clientId, userId, 'consent_revoked');
      await this.audit.record(manager, actor, {
        action: 'consent.revoked',
        subjectType: 'consent',
        subjectId: userId,
        before: auditView(before),
      });
      await this.events.tell(manager, { kind: 'revoked', clientId, userId, scopes: [] });
      return 'ended';
    });
  }

  private async checkScopes(allowed: string[], scopes: string[]): Promise<void> {
    const known = await this.scopes.describe(scopes);
    const wrong = scopes.flatMap((name, index) => {
      const audience = known.find((scope) => scope.name === name)?.audience;
      return allowed.includes(name) && audience === 'partner' ? [] : [index + 1];
    });
    if (wrong.length > 0) {
      throw validationFailed({
        scopes: wrong.map((place) => `scope ${place} must be one of the client's that users can give`),
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
      await this.events.tell(manager, { kind: 'granted', clientId, userId, scopes: after.scopes });
    }
    return after;
  }
}

const auditView = (consent: ConsentEntity) => ({
  client_id: consent.clientId,
  scopes: consent.scopes,
  ...(consent.evidence === null ? {} : { evidence: consent.evidence }),
});

import { Injectable, Logger } from '@nestjs/common';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { DomainQuestions } from '#platform/database/domain/domain-questions.service.js';
import type { ErasureObstacle } from '#access/domain/domain-questions.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { notFound } from '#platform/http/problems/problem.js';
import { MAIL_TEXTS } from '#records/mail/mail-texts.js';
import { MailsService } from '#records/mail/mails.service.js';
import { MESSAGES, type Message } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { newId } from '#platform/secrets/ids.js';
import type { UserEntity } from '../accounts/user.entity.js';
import { UsersRepository } from '../accounts/users.repository.js';
import { UsersService } from '../accounts/users.service.js';
import { ActorsService } from '../sessions/actors.service.js';
import type { AccountDeletionEntity } from './account-deletion.entity.js';
import { AccountDeletionsRepository } from './account-deletions.repository.js';
import { PeriodicWorker } from '#platform/database/background/periodic-worker.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';

/** What became of a wish to delete an account: it waits until a time, is done, or is not possible yet. */
export type DeletionOutcome =
  | { dueAt: Date }
  | { isErased: true }
  /** Someone else has erased it, or kept it, in the meantime. */
  | { isGone: true }
  | { obstacle: ErasureObstacle };

const CLAIMED_AT_ONCE = 10;

/**
 * Accounts that their owners delete (contract §13): asked for, taken back, and carried out when the time has come. Each step locks the
 * account first, so that of two at the same moment the first counts.
 */
@Injectable()
export class AccountDeletionsService {
  private readonly logger = new Logger(AccountDeletionsService.name);

  constructor(
    private readonly repository: AccountDeletionsRepository,
    private readonly users: UsersRepository,
    private readonly accounts: UsersService,
    private readonly actors: ActorsService,
    private readonly notifications: NotificationsService,
    private readonly events: DomainEvents,
    private readonly questions: DomainQuestions,
    private readonly mails: MailsService,
    private readonly audit: AuditService,
    private readonly transactions: Transactions,
    private readonly settings: Settings,
  ) {}

  /** What the user has asked for, if that still waits. */
  find(userId: string): Promise<AccountDeletionEntity | null> {
    return this.repository.find(userId);
  }

  /** What the user would have to end first. */
  obstacleFor(userId: string): Promise<ErasureObstacle | undefined> {
    return this.transactions.run(async () => {
      const user = await this.users.findById(userId);
      return user ? this.obstacleTo(user) : undefined;
    });
  }

  /**
   * Asks for the deletion, which is due after `ACCOUNT_DELETION_DAYS`, and tells the user and the clients with access; asking again changes nothing. With 0 days it
   * is carried out at once.
   */
  async request(userId: string, actor: Actor): Promise<DeletionOutcome> {
    const { accountDeletionDays: days } = this.settings;
    const outcome = await this.transactions.run(async (): Promise<DeletionOutcome> => {
      const user = await this.users.lock(userId);
      await this.actors.requireLive(actor);
      if (!user) throw notFound('There is no user with this id.');
      const obstacle = await this.obstacleTo(user);
      if (obstacle) return { obstacle };
      const isNew = await this.repository.insert(userId, days);
      const { dueAt } = (await this.repository.find(userId))!;
      if (isNew) {
        await this.record(actor, 'user.deletion_requested', userId, { due_at: dueAt });
        if (days > 0) {
          await this.tell(userId, MESSAGES.deletionRequested(dueAt), actor);
          await this.events.say('user.deletion_changed', {
            kind: 'requested',
            userId,
            dueAt,
            requestId: actor.requestId,
          });
        }
      }
      return { dueAt };
    });
    return 'dueAt' in outcome && days === 0 ? this.carryOut(userId, actor) : outcome;
  }

  /** Keeps the account after all; false if nothing waits. Throws `NoLongerSignedIn` if the account is gone. */
  keep(userId: string, actor: Actor): Promise<boolean> {
    return this.transactions.run(async () => {
      await this.users.lock(userId);
      await this.actors.requireLive(actor);
      if (!(await this.repository.delete(userId))) return false;
      await this.record(actor, 'user.deletion_cancelled', userId);
      await this.tell(userId, MESSAGES.deletionCancelled(), actor);
      await this.events.say('user.deletion_changed', {
        kind: 'cancelled',
        userId,
        requestId: actor.requestId,
      });
      return true;
    });
  }

  /**
   * Erases every account whose time has come, on any number of instances at once, until the service stops; returns how many this one
   * has erased.
   */
  async eraseDue(stopping?: AbortSignal): Promise<number> {
    let erased = 0;
    for (;;) {
      if (stopping?.aborted) return erased;
      const claimed = await this.repository.claim(CLAIMED_AT_ONCE);
      for (const userId of claimed) {
        // One that fails does not hold up the others; it is tried again after its lease.
        const outcome = await this.carryOut(userId).catch((error: Error) => {
          this.logger.warn(
            `The account ${userId} could not be erased and will be tried again: ${error.message}`,
          );
          return undefined;
        });
        if (outcome && 'isErased' in outcome) erased++;
      }
      if (claimed.length < CLAIMED_AT_ONCE) return erased;
    }
  }

  /**
   * Erases one account in one transaction, if it is due and was not taken back. If something stands in the way by now, the wish ends and
   * the user is told what to do first.
   */
  private carryOut(userId: string, by?: Actor): Promise<DeletionOutcome> {
    const actor: Actor = { type: 'user', id: userId };
    return this.transactions.run(async (): Promise<DeletionOutcome> => {
      if (!(await this.users.lockForErasure(userId))) return { isGone: true };
      if (!(await this.repository.take(userId))) return { isGone: true };
      const user = (await this.users.findById(userId))!;
      const obstacle = await this.obstacleTo(user);
      if (obstacle) {
        await this.record(actor, 'user.deletion_refused', userId, { reason: obstacle });
        await this.tell(userId, MESSAGES.deletionRefused(obstacle));
        await this.events.say('user.deletion_changed', { kind: 'cancelled', userId });
        return { obstacle };
      }
      await this.accounts.erase(userId, actor);
      if (user.emailVerifiedAt) {
        const mail = MAIL_TEXTS.accountDeleted();
        const cause = `account deleted ${newId('form')}`;
        await this.mails.queueToErased({
          kind: 'account_deleted',
          address: user.email,
          cause,
          mail,
          language: user.language ?? by?.language,
        });
      }
      return { isErased: true };
    });
  }

  /** Power is given back first: an admin takes the role away, which ends what depends on it (contract §17). */
  private async obstacleTo(user: UserEntity): Promise<ErasureObstacle | undefined> {
    if (user.role === 'operator') return 'operator';
    const found = await Promise.all(this.questions.askAll('user.erasure_obstacle', user.id));
    return found.find((obstacle) => obstacle !== undefined);
  }

  private tell(userId: string, message: Message, by?: Actor): Promise<void> {
    return this.notifications.raise(userId, null, message, by);
  }

  private record(
    actor: Actor,
    action: string,
    userId: string,
    after?: Record<string, unknown>,
  ): Promise<void> {
    return this.audit.record(actor, { action, subjectType: 'user', subjectId: userId, after });
  }
}

/** Erases the accounts that are due, every minute. */
@Injectable()
export class AccountDeletionsWorker extends PeriodicWorker {
  constructor(
    private readonly deletions: AccountDeletionsService,
    settings: Settings,
    schema: SchemaCompatibility,
  ) {
    super({ everyMs: 60_000, failure: 'Erasing accounts stopped early' }, settings, schema);
  }

  protected async work(): Promise<void> {
    const erased = await this.deletions.eraseDue(this.stopping.signal);
    if (erased > 0) this.logger.log(`Accounts were erased, as their owners asked: ${erased}`);
  }
}

import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AuditService, type Actor } from '#records/audit/audit.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { hashPassword, verifyPassword } from '#platform/secrets/passwords.js';
import { digestOf } from '#platform/secrets/tokens.js';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { KnownBrowsersService } from '../sessions/known-browsers.service.js';
import { PasswordLinksRepository } from './password-links.repository.js';
import type { SignedInUser } from '../sessions/signed-in-user.js';
import { SessionsService } from '../sessions/sessions.service.js';
import type { UserEntity } from '../accounts/user.entity.js';
import { UsersRepository } from '../accounts/users.repository.js';

/** Rolls back the transaction of a change that came too late. */
class ChangedMeanwhile extends Error {}

/** Password changes by a logged-in user who knows the current password. */
@Injectable()
export class PasswordChangeService {
  constructor(
    private readonly users: UsersRepository,
    private readonly links: PasswordLinksRepository,
    private readonly sessions: SessionsService,
    private readonly browsers: KnownBrowsersService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly events: DomainEvents,
    private readonly notifications: NotificationsService,
  ) {}

  /**
   * Verifies the user's current password. Returns the account as of then; undefined for a wrong password, which is recorded in
   * the audit log after `onWrong` was called.
   */
  async verify(
    user: SignedInUser,
    password: string,
    actor: Actor,
    onWrong: () => void,
    refusal = 'user.password_change_refused',
  ): Promise<UserEntity | undefined> {
    const account = await this.users.findByIdWithPassword(user.id);
    if ((await verifyPassword(account?.passwordHash, password)) && account?.enabled) return account;
    onWrong();
    await this.transactions.run(() =>
      this.audit.record(actor, { action: refusal, subjectType: 'user', subjectId: user.id }),
    );
    return undefined;
  }

  /**
   * Records that a logged-in user entered the password again: the browser continues under a new session id, as after a new login.
   * Returns the digest of that id; undefined if the browser was logged out, or the password changed, in the meantime.
   */
  async confirm(
    account: UserEntity,
    present: SignedInUser,
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor,
  ): Promise<Buffer | undefined> {
    const secret = await this.transactions.run(async () => {
      const restarted = await this.sessions.restart(request, account, present, actor);
      if (restarted === undefined) return undefined;
      await this.audit.record(actor, { action: 'session.confirmed', subjectId: account.id });
      return restarted;
    });
    if (secret === undefined) return undefined;
    this.sessions.setCookie(reply, secret);
    return digestOf(secret);
  }

  /**
   * Sets the password and ends what depends on the previous one (contract §4): tokens, codes, links and all sessions. This
   * browser continues under a new session id, and stays known. False if the password was changed, or the browser logged out,
   * in the meantime.
   */
  async change(
    account: UserEntity,
    present: SignedInUser,
    password: string,
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor,
  ): Promise<boolean> {
    const passwordHash = await hashPassword(password);
    const renewed = { ...account, passwordHash };
    try {
      const secret = await this.transactions.run(async () => {
        // Users before sessions: a concurrent login waits, and then finds another password.
        if (!(await this.users.replacePassword(account, passwordHash))) throw new ChangedMeanwhile();
        const session = await this.sessions.renew(request, renewed, present, actor);
        if (session === undefined) throw new ChangedMeanwhile();
        await this.revokeDependents(account.id, actor);
        return session;
      });
      this.sessions.setCookie(reply, secret);
      this.browsers.remember(request, reply, renewed);
      return true;
    } catch (error) {
      if (error instanceof ChangedMeanwhile) return false;
      throw error;
    }
  }

  private async revokeDependents(userId: string, actor: Actor): Promise<void> {
    await this.links.deleteByUser(userId);
    await this.events.say('user.access_ended', userId, 'password_changed');
    await this.audit.record(actor, { action: 'user.password_changed', subjectId: userId });
    await this.notifications.raise(userId, null, MESSAGES.passwordChanged(), actor);
  }
}

import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { EntityManager } from 'typeorm';
import { AuditService, type Actor } from '../audit/audit.service.js';
import { Transactions } from '../database/transactions.js';
import { hashPassword, verifyPassword } from '../secrets/passwords.js';
import { AccessEndings } from './access-endings.js';
import { PasswordLinkEntity } from './password-link.entity.js';
import type { SignedInUser } from './sessions.repository.js';
import { SessionsService } from './sessions.service.js';
import type { UserEntity } from './user.entity.js';
import { UsersRepository } from './users.repository.js';

/** Undoes the transaction of a change that came too late. */
class ChangedMeanwhile extends Error {}

/** The change of a password by a signed-in user who knows the present one. */
@Injectable()
export class PasswordChangeService {
  constructor(
    private readonly users: UsersRepository,
    private readonly sessions: SessionsService,
    private readonly transactions: Transactions,
    private readonly audit: AuditService,
    private readonly endings: AccessEndings,
  ) {}

  /** Whether the password is the user's present one: the account as it was then, else undefined, which the trail notes. */
  async verify(
    user: SignedInUser,
    password: string,
    actor: Actor,
    refusal = 'user.password_change_refused',
  ): Promise<UserEntity | undefined> {
    const account = await this.users.findByIdWithPassword(user.id);
    if ((await verifyPassword(account?.passwordHash, password)) && account?.enabled) return account;
    await this.transactions.run((manager) =>
      this.audit.record(manager, actor, {
        action: refusal,
        subjectType: 'user',
        subjectId: user.id,
      }),
    );
    return undefined;
  }

  /**
   * Notes that a signed-in user gave the password once more: the browser goes on under a new session id, as after a new
   * sign-in. False where it was signed out, or the password changed, meanwhile.
   */
  async confirm(
    account: UserEntity,
    { sessionDigest }: SignedInUser,
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor,
  ): Promise<boolean> {
    const secret = await this.transactions.run(async (manager) => {
      const restarted = await this.sessions.restart(manager, request, account, sessionDigest, actor);
      if (restarted === undefined) return undefined;
      await this.audit.record(manager, actor, {
        action: 'session.confirmed',
        subjectType: 'session',
        subjectId: account.id,
      });
      return restarted;
    });
    if (secret === undefined) return false;
    this.sessions.setCookie(reply, secret);
    return true;
  }

  /**
   * Sets the password and ends what rests on the one before (contract §4): tokens, codes, links and every session; this
   * browser goes on under a new session id. False where the password was changed, or the browser signed out, meanwhile.
   */
  async change(
    account: UserEntity,
    { sessionDigest }: SignedInUser,
    password: string,
    request: FastifyRequest,
    reply: FastifyReply,
    actor: Actor,
  ): Promise<boolean> {
    const passwordHash = await hashPassword(password);
    try {
      const secret = await this.transactions.run(async (manager) => {
        // Users before sessions: whoever signs in at this moment waits, and then finds another password.
        if (!(await this.users.replacePassword(manager, account, passwordHash))) throw new ChangedMeanwhile();
        const renewed = { ...account, passwordHash };
        const session = await this.sessions.renew(manager, request, renewed, sessionDigest, actor);
        if (session === undefined) throw new ChangedMeanwhile();
        await this.endTheRest(manager, account.id, actor);
        return session;
      });
      this.sessions.setCookie(reply, secret);
      return true;
    } catch (error) {
      if (error instanceof ChangedMeanwhile) return false;
      throw error;
    }
  }

  private async endTheRest(manager: EntityManager, userId: string, actor: Actor): Promise<void> {
    await manager.delete(PasswordLinkEntity, { userId });
    await this.endings.endForUser(manager, userId, 'password_changed');
    await this.audit.record(manager, actor, {
      action: 'user.password_changed',
      subjectType: 'user',
      subjectId: userId,
    });
  }
}

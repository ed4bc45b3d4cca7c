import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '#records/audit/audit.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { PasswordChangeService } from '#access/users/passwords/password-change.service.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { SignInLimitsService } from './sign-in-limits.service.js';

/** Checks the password that a logged-in user enters again. */
@Injectable()
export class PasswordConfirmations {
  constructor(
    private readonly passwords: PasswordChangeService,
    private readonly limits: SignInLimitsService,
  ) {}

  /**
   * Returns the user under a new session id; `wrong` for a wrong password, which counts like a failed login (a 429 problem
   * after too many); `signed out` if this browser was logged out in the meantime.
   */
  async confirm(
    user: SignedInUser,
    password: string,
    actor: Actor,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<SignedInUser | 'wrong' | 'signed out'> {
    const account = await this.verify(user, password, actor, request, reply, false);
    if (!account) return 'wrong';
    const sessionDigest = await this.passwords.confirm(account, user, request, reply, actor);
    return sessionDigest ? { ...user, sessionDigest, gavePasswordRecently: true } : 'signed out';
  }

  /** The account as read with its password, if the password is right. With `isUnfinished`, a second factor follows. */
  async verify(
    user: SignedInUser,
    password: string,
    actor: Actor,
    request: FastifyRequest,
    reply: FastifyReply,
    isUnfinished: boolean,
  ): Promise<UserEntity | undefined> {
    const attempt = await this.limits.admit(request, user.email);
    const onWrong = () => {
      attempt.isWrong = true;
    };
    const account = await this.limits.compare(attempt, () =>
      this.passwords.verify(user, password, actor, onWrong, 'session.confirmation_refused'),
    );
    if (account && isUnfinished) await this.limits.settleUnfinished(attempt);
    else await this.limits.settle(attempt, account, request, reply);
    return account;
  }
}

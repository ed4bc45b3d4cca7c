import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../../audit/audit.service.js';
import { SignInLimitsService } from '../../rate-limits/sign-in-limits.service.js';
import { PasswordChangeService } from '../../users/passwords/password-change.service.js';
import type { SignedInUser } from '../../users/sessions/signed-in-user.js';
import type { UserEntity } from '../../users/accounts/user.entity.js';

/** Checks the password that an operator enters again. */
@Injectable()
export class ConsolePasswords {
  constructor(
    private readonly passwords: PasswordChangeService,
    private readonly limits: SignInLimitsService,
  ) {}

  /**
   * Returns the operator under a new session id; `wrong` for a wrong password, which counts like a failed login (a 429 problem
   * after too many); `signed out` if this browser was logged out meanwhile.
   */
  async confirm(
    user: SignedInUser,
    password: string,
    actor: Actor,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<SignedInUser | 'wrong' | 'signed out'> {
    const attempt = await this.limits.admit(request, user.email);
    let account: UserEntity | undefined;
    try {
      account = await this.passwords.verify(user, password, actor, 'session.confirmation_refused');
    } finally {
      await this.limits.settle(attempt, account, request, reply);
    }
    if (!account) return 'wrong';
    const sessionDigest = await this.passwords.confirm(account, user, request, reply, actor);
    return sessionDigest ? { ...user, sessionDigest, gavePasswordRecently: true } : 'signed out';
  }
}

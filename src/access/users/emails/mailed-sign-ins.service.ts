import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '#records/audit/audit.service.js';
import type { UserEntity } from '../accounts/user.entity.js';
import { secondFactorPath } from '../factors/factor-paths.js';
import { PendingSignInsService } from '../factors/pending-sign-ins.service.js';
import { SecondFactorService } from '../factors/second-factor.service.js';
import { KnownBrowsersService } from '../sessions/known-browsers.service.js';
import { SessionsService } from '../sessions/sessions.service.js';

/** Going on after a mailed link that was asked for on the way to somewhere, such as a consent (contract §18). */
@Injectable()
export class MailedSignInsService {
  constructor(
    private readonly sessions: SessionsService,
    private readonly factors: SecondFactorService,
    private readonly pending: PendingSignInsService,
    private readonly browsers: KnownBrowsersService,
  ) {}

  /**
   * Logs in, in this browser, the person who has just used up a mailed link, as read with the password hash that was set with it. Returns
   * the path to go on to, which asks for the second factor first where the account has one; undefined if the account was changed in the meantime.
   */
  async signIn(
    request: FastifyRequest,
    reply: FastifyReply,
    user: UserEntity,
    method: 'password' | 'passkey',
    returnTo: string,
    actor: Actor,
  ): Promise<string | undefined> {
    if (method === 'password' && (await this.factors.isAskedAfterPassword(user))) {
      return (await this.pending.begin(reply, user)) ? secondFactorPath(returnTo) : undefined;
    }
    // The person is notified of the use of the link, so not also of a new browser.
    if (!(await this.sessions.start(request, reply, user, { method }, actor, false))) return undefined;
    this.browsers.remember(request, reply, user);
    return returnTo;
  }
}

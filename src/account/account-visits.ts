import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/audit.service.js';
import { originOf } from '../http/request-origin.js';
import { AddressLimits } from '../http/address-rate-limit.guard.js';
import { Cookies } from '../http/cookies.js';
import { CsrfService } from '../http/csrf.service.js';
import { LOGOUT_BINDING } from '../users/logout-binding.js';
import type { SignedInUser } from '../users/sessions.repository.js';
import { SessionsService } from '../users/sessions.service.js';
import type { AccountFrame } from './pages/account-layout.js';

const COOKIE = 'account_notice';
// Long enough for the redirect that follows a form.
const COOKIE_SECONDS = 60;

/** Messages shown after a form was posted. The cookie holds only the key, so nobody can put other text on the page. */
const NOTICES = {
  disconnected: 'Application disconnected.',
  read: 'Notification marked as read.',
  resolved: 'Notification marked as resolved.',
  password_changed:
    'Password changed. You are logged out everywhere else, and applications have to ask you again.',
  signed_out: 'Session logged out.',
  others_signed_out: 'All other sessions logged out.',
} as const;

export type AccountNotice = keyof typeof NOTICES;

/** What all account pages share: the logged-in user, the layout, and the redirect after a form. */
@Injectable()
export class AccountVisits {
  constructor(
    private readonly sessions: SessionsService,
    private readonly cookies: Cookies,
    private readonly csrf: CsrfService,
    private readonly limits: AddressLimits,
  ) {}

  /** The logged-in user; without one, redirects to the login page, and from there to `returnTo`. */
  async visitor(
    request: FastifyRequest,
    reply: FastifyReply,
    returnTo: string,
  ): Promise<SignedInUser | undefined> {
    this.limits.refuseOverLimit(request);
    const user = await this.sessions.current(request);
    if (user) return user;
    await this.limits.countAddress(request);
    const query = new URLSearchParams({ return_to: returnTo });
    void reply
      .header('cache-control', 'no-store')
      .redirect(`/login?${query.toString()}`, request.method === 'POST' ? 303 : 302);
    return undefined;
  }

  /** The data of the layout; a notice left by a form is shown once. */
  frame(request: FastifyRequest, reply: FastifyReply, { name, email }: SignedInUser): AccountFrame {
    const key = this.cookies.get(request, COOKIE);
    if (key !== undefined) this.cookies.clear(reply, COOKIE);
    return {
      user: { name, email },
      logoutToken: this.csrf.tokenFor(request, reply, LOGOUT_BINDING),
      notice: key !== undefined && Object.hasOwn(NOTICES, key) ? NOTICES[key as AccountNotice] : undefined,
    };
  }

  /** Redirects after a form to a page that shows the notice. */
  goOn(reply: FastifyReply, path: string, notice: AccountNotice): void {
    this.cookies.set(reply, COOKIE, notice, COOKIE_SECONDS);
    void reply.header('cache-control', 'no-store').redirect(path, 303);
  }
}

export const actorOf = (user: SignedInUser, request: FastifyRequest): Actor => ({
  type: 'user',
  id: user.id,
  ...originOf(request),
});

/** What the CSRF token of a form is bound to: the action, its object, and the session. */
export const bindingOf = (user: SignedInUser, what: string): string =>
  `account ${what} ${user.sessionDigest.toString('base64url')}`;

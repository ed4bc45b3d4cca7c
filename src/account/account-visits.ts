import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/audit.service.js';
import { originOf } from '../http/actor.js';
import { Cookies } from '../http/cookies.js';
import { CsrfService } from '../http/csrf.service.js';
import { LOGOUT_BINDING } from '../users/logout-binding.js';
import type { SignedInUser } from '../users/sessions.repository.js';
import { SessionsService } from '../users/sessions.service.js';
import type { AccountFrame } from './pages/account-layout.js';

const COOKIE = 'account_notice';
// Long enough for the redirect that follows a form.
const COOKIE_SECONDS = 60;

/** What a page says after a form was posted. The cookie holds the key alone, so nobody can put other words on the page. */
const NOTICES = {
  disconnected: 'The application is disconnected.',
  read: 'The notification is marked as read.',
  resolved: 'The notification is marked as resolved.',
  password_changed:
    'Your password is changed. You are signed out everywhere else, and applications have to ask you again.',
  signed_out: 'That browser is signed out.',
  others_signed_out: 'You are signed out everywhere else.',
} as const;

export type AccountNotice = keyof typeof NOTICES;

/** What all parts of the account page share: who visits, what stands around the page, and how a form ends. */
@Injectable()
export class AccountVisits {
  constructor(
    private readonly sessions: SessionsService,
    private readonly cookies: Cookies,
    private readonly csrf: CsrfService,
  ) {}

  /** Who is signed in; where nobody is, the browser is sent to the login page, and from there to `returnTo`. */
  async visitor(
    request: FastifyRequest,
    reply: FastifyReply,
    returnTo: string,
  ): Promise<SignedInUser | undefined> {
    const user = await this.sessions.current(request);
    if (user) return user;
    const query = new URLSearchParams({ return_to: returnTo });
    void reply
      .header('cache-control', 'no-store')
      .redirect(`/login?${query.toString()}`, request.method === 'POST' ? 303 : 302);
    return undefined;
  }

  /** What stands around the page; the notice that a form left is shown once. */
  frame(request: FastifyRequest, reply: FastifyReply, { name, email }: SignedInUser): AccountFrame {
    const key = this.cookies.get(request, COOKIE);
    if (key !== undefined) this.cookies.clear(reply, COOKIE);
    return {
      user: { name, email },
      logoutToken: this.csrf.tokenFor(request, reply, LOGOUT_BINDING),
      notice: key !== undefined && Object.hasOwn(NOTICES, key) ? NOTICES[key as AccountNotice] : undefined,
    };
  }

  /** Ends a form: on to a page, which says what was done. */
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

/** What the CSRF token of a form is bound to: what it does, to what, in this session. */
export const bindingOf = (user: SignedInUser, what: string): string =>
  `account ${what} ${user.sessionDigest.toString('base64url')}`;

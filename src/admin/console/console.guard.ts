import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { originOf } from '../../http/request-origin.js';
import { AddressLimits } from '../../http/address-rate-limit.guard.js';
import { Cookies } from '../../http/cookies.js';
import { CsrfService } from '../../http/csrf.service.js';
import { Form } from '../../http/form.js';
import { sendPage } from '../../http/send-page.js';
import { messagePage } from '../../http/pages/message.page.js';
import { LOGOUT_BINDING } from '../../users/logout-binding.js';
import type { SignedInUser } from '../../users/sessions.repository.js';
import { SessionsService } from '../../users/sessions.service.js';
import { ConsolePasswords } from './console-passwords.service.js';
import { CONSOLE_PATH, NOTICES, type ConsoleNotice, type ConsoleVisit } from './console-visit.js';
import type { FieldErrors } from './form-attempt.js';
import { FormIds } from './form-ids.service.js';
import { PASSWORD_FIELD } from './pages/form-fields.js';
import {
  confirmPathFor,
  consolePathIn,
  PASSWORD_RULE,
  type PasswordRule,
} from './require-recent-password.js';
import { ShownOnce } from './shown-once.service.js';

export const NOTICE_COOKIE = 'console_notice';

declare module 'fastify' {
  interface FastifyRequest {
    consoleVisit?: ConsoleVisit;
  }
}

/**
 * Admits logged-in operators to the console, and forms that come from its pages. Every POST is checked here, so that no page can
 * forget it; so is whether the password was entered recently, if the route requires that (contract §12). Without a login,
 * redirects to the login page. Users who are not operators get a page with status 403.
 */
@Injectable()
export class ConsoleGuard implements CanActivate {
  constructor(
    private readonly sessions: SessionsService,
    private readonly cookies: Cookies,
    private readonly csrf: CsrfService,
    private readonly passwords: ConsolePasswords,
    private readonly formIds: FormIds,
    private readonly shownOnce: ShownOnce,
    private readonly reflector: Reflector,
    private readonly limits: AddressLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const isPost = request.method === 'POST';
    this.limits.refuseOverLimit(request);
    const user = await this.sessions.current(request);
    if (!user) {
      await this.limits.countAddress(request);
      const query = new URLSearchParams({ return_to: isPost ? CONSOLE_PATH : request.url });
      void reply
        .header('cache-control', 'no-store')
        .redirect(`/login?${query.toString()}`, isPost ? 303 : 302);
      return false;
    }
    if (user.role !== 'operator') {
      sendPage(reply, notForYou(), { status: 403 });
      return false;
    }
    request.consoleVisit = this.visit(user, request, reply);
    if (isPost) this.csrf.check(request, formOf(request), bindingOf(user, pathOf(request)));
    const asksAt = user.gavePasswordRecently
      ? undefined
      : returnPathOf(this.reflector.get<PasswordRule>(PASSWORD_RULE, context.getHandler()), request);
    if (asksAt !== undefined) {
      void reply.header('cache-control', 'no-store').redirect(confirmPathFor(asksAt), 303);
      return false;
    }
    return true;
  }

  private visit(user: SignedInUser, request: FastifyRequest, reply: FastifyReply): ConsoleVisit {
    const key = this.cookies.get(request, NOTICE_COOKIE);
    if (key !== undefined && request.method !== 'POST') this.cookies.clear(reply, NOTICE_COOKIE);
    const path = pathOf(request);
    const visit: ConsoleVisit = {
      user,
      actor: { type: 'user', id: user.id, ...originOf(request) },
      url: request.url,
      tokenFor: (target) => this.csrf.tokenFor(request, reply, bindingOf(visit.user, target)),
      givePassword: async (password) => {
        const outcome = await this.passwords.confirm(visit.user, password, visit.actor, request, reply);
        if (typeof outcome === 'string') return outcome;
        visit.user = outcome;
        return 'right';
      },
      askPassword: (form) => askPassword(visit, form),
      onceFor: (prefix, target) => this.formIds.make(prefix, user.id, target),
      onceIn: (form, prefix, target) => this.formIds.read(form, prefix, user.id, target),
      takeShown: () => this.shownOnce.take(request, reply, visit.user, path),
      frame: {
        user: { name: user.name, email: user.email },
        logoutToken: this.csrf.tokenFor(request, reply, LOGOUT_BINDING),
        notice: key !== undefined && Object.hasOwn(NOTICES, key) ? NOTICES[key as ConsoleNotice] : undefined,
      },
    };
    return visit;
  }
}

/** Where to return to after the password was entered; undefined if the guard does not ask for it. */
function returnPathOf(rule: PasswordRule, request: FastifyRequest): string | undefined {
  if (rule === 'asked') return request.method === 'POST' ? pathOf(request) : request.url;
  if (rule !== 'asked on the page above') return undefined;
  const path = pathOf(request);
  const above = path.slice(0, path.lastIndexOf('/'));
  return consolePathIn(formOf(request).get('return_to') ?? above);
}

async function askPassword(visit: ConsoleVisit, form: Form): Promise<FieldErrors | undefined> {
  if (visit.user.gavePasswordRecently) return undefined;
  const password = form.get(PASSWORD_FIELD);
  if (password === undefined) return { [PASSWORD_FIELD]: ['Enter your password'] };
  const outcome = await visit.givePassword(password);
  if (outcome === 'right') return undefined;
  return outcome === 'wrong'
    ? { [PASSWORD_FIELD]: ['This is not your password'] }
    : { form: ['You have been logged out. Log in again.'] };
}

const formOf = ({ body }: FastifyRequest): Form => (body instanceof Form ? body : Form.parse(''));

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0]!.replace(/\/$/, '');

/** What the CSRF token of a form is bound to: its path, which identifies action and object, and the session. */
const bindingOf = (user: SignedInUser, path: string): string =>
  `console ${path} ${user.sessionDigest.toString('base64url')}`;

const notForYou = (): string =>
  messagePage({
    title: 'For operators',
    heading: 'This page is for operators',
    text: 'You are logged in, but your account has no access to the console. If it should, ask an operator.',
    action: { href: '/account', label: 'Go to your account' },
  });

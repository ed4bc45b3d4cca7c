import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { originOf } from '../../http/actor.js';
import { Cookies } from '../../http/cookies.js';
import { CsrfService } from '../../http/csrf.service.js';
import { Form } from '../../http/form.js';
import { sendPage } from '../../http/html.js';
import { messagePage } from '../../http/pages/message.page.js';
import { LOGOUT_BINDING } from '../../users/logout-binding.js';
import type { SignedInUser } from '../../users/sessions.repository.js';
import { SessionsService } from '../../users/sessions.service.js';
import { CONSOLE_PATH, NOTICES, type ConsoleNotice, type ConsoleVisit } from './console-visit.js';

export const NOTICE_COOKIE = 'console_notice';

declare module 'fastify' {
  interface FastifyRequest {
    consoleVisit?: ConsoleVisit;
  }
}

/**
 * Lets signed-in operators into the console, and forms that came from its pages: every POST is checked here, so that no
 * page can forget it. Nobody signed in: to the login page. A user who is no operator: a page with status 403.
 */
@Injectable()
export class ConsoleGuard implements CanActivate {
  constructor(
    private readonly sessions: SessionsService,
    private readonly cookies: Cookies,
    private readonly csrf: CsrfService,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    const isPost = request.method === 'POST';
    const user = await this.sessions.current(request);
    if (!user) {
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
    if (isPost) this.csrf.check(request, formOf(request), bindingOf(user, pathOf(request)));
    request.consoleVisit = this.visit(user, request, reply);
    return true;
  }

  private visit(user: SignedInUser, request: FastifyRequest, reply: FastifyReply): ConsoleVisit {
    const key = this.cookies.get(request, NOTICE_COOKIE);
    if (key !== undefined && request.method !== 'POST') this.cookies.clear(reply, NOTICE_COOKIE);
    return {
      user,
      actor: { type: 'user', id: user.id, ...originOf(request) },
      url: request.url,
      tokenFor: (path) => this.csrf.tokenFor(request, reply, bindingOf(user, path)),
      frame: {
        user: { name: user.name, email: user.email },
        logoutToken: this.csrf.tokenFor(request, reply, LOGOUT_BINDING),
        notice: key !== undefined && Object.hasOwn(NOTICES, key) ? NOTICES[key as ConsoleNotice] : undefined,
      },
    };
  }
}

const formOf = ({ body }: FastifyRequest): Form => (body instanceof Form ? body : Form.parse(''));

const pathOf = ({ url }: FastifyRequest): string => url.split('?', 1)[0]!.replace(/\/$/, '');

/** What the CSRF token of a form is bound to: where it is posted, which says what it does to what, in this session. */
const bindingOf = (user: SignedInUser, path: string): string =>
  `console ${path} ${user.sessionDigest.toString('base64url')}`;

const notForYou = (): string =>
  messagePage({
    title: 'For operators',
    heading: 'This page is for operators',
    text: 'You are signed in, but your account may not use the console. If it should, ask an operator.',
    action: { href: '/account', label: 'Go to your account' },
  });

import { Controller, Get, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { originOf } from '../../http/request-origin.js';
import { CsrfService } from '../../http/csrf.service.js';
import { FormBody } from '../../http/form-body.decorator.js';
import { Form, queryStringOf } from '../../http/form.js';
import { PageRoute, sendPage } from '../../http/send-page.js';
import { legible } from '../../http/legible-text.js';
import { safeReturnTo } from '../../http/return-to.js';
import { AddressRateLimitGuard } from '../../http/address-rate-limit.guard.js';
import { SignInLimitsService } from '../../rate-limits/sign-in-limits.service.js';
import { LOGOUT_BINDING } from '../../users/logout-binding.js';
import type { UserEntity } from '../../users/user.entity.js';
import { SessionsService } from '../../users/sessions.service.js';
import { AuthorizationRequestChecks } from './authorization-request.checks.js';
import { loginPage } from './pages/login.page.js';
import { formTargetOf } from './redirect.js';

const LOGIN_BINDING = 'login';

/** Login and logout (contract §3). `return_to` is a path of this service; anything else is ignored. */
@Controller()
@UseGuards(AddressRateLimitGuard)
export class LoginController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly limits: SignInLimitsService,
    private readonly checks: AuthorizationRequestChecks,
    private readonly csrf: CsrfService,
  ) {}

  /** Shows the login form. A user who is already logged in is redirected to `return_to`, or sees who is logged in. */
  @Get('login')
  @PageRoute()
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const returnTo = safeReturnTo(Form.parse(queryStringOf(request.url)).get('return_to'));
    const user = await this.sessions.current(request);
    if (user && returnTo) return void reply.header('cache-control', 'no-store').redirect(returnTo, 302);
    if (!user) return this.sendForm(request, reply, { returnTo });
    const csrfToken = this.csrf.tokenFor(request, reply, LOGOUT_BINDING);
    sendPage(reply, loginPage({ csrfToken, signedInAs: user }));
  }

  /** Logs in. An unknown email and a wrong password get the same response in the same time. Too many failures get a 429 page. */
  @Post('login')
  @PageRoute()
  async logIn(
    @FormBody() form: Form,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.csrf.check(request, form, LOGIN_BINDING);
    const returnTo = safeReturnTo(form.get('return_to'));
    const email = form.get('email') ?? '';
    const actor = { type: 'user', id: null, ...originOf(request) } as const;
    const attempt = await this.limits.admit(request, email);
    let user: UserEntity | undefined;
    try {
      user = await this.sessions.signIn(
        request,
        reply,
        email,
        form.get('password') ?? '',
        actor,
        !attempt.isKnownBrowser,
      );
    } finally {
      await this.limits.settle(attempt, user, request, reply);
    }
    if (user) return void reply.header('cache-control', 'no-store').redirect(returnTo ?? '/', 303);
    const error = 'The email or password is incorrect. Check both and try again.';
    await this.sendForm(request, reply, { returnTo, email: email.slice(0, 254), error });
  }

  @Post('logout')
  @PageRoute()
  async logOut(
    @FormBody() form: Form,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.csrf.check(request, form, LOGOUT_BINDING);
    await this.sessions.signOut(request, reply, { type: 'user', id: null, ...originOf(request) });
    const returnTo = safeReturnTo(form.get('return_to'));
    const query = returnTo ? `?${new URLSearchParams({ return_to: returnTo }).toString()}` : '';
    void reply.header('cache-control', 'no-store').redirect(`/login${query}`, 303);
  }

  private async sendForm(
    request: FastifyRequest,
    reply: FastifyReply,
    { returnTo, email, error }: { returnTo?: string; email?: string; error?: string },
  ): Promise<void> {
    const csrfToken = this.csrf.tokenFor(request, reply, LOGIN_BINDING);
    const destination = await this.destinationOf(returnTo);
    const html = loginPage({ csrfToken, returnTo, email, error, clientName: destination?.clientName });
    sendPage(reply, html, { status: error ? 401 : 200, formTargets: destination?.formTargets });
  }

  /** The client behind `return_to`: after the login the browser may be redirected straight on to it. */
  private async destinationOf(
    returnTo: string | undefined,
  ): Promise<{ clientName?: string; formTargets: string[] } | undefined> {
    if (!returnTo || !/^\/o\/authorize\/?\?/.test(returnTo)) return undefined;
    const checked = await this.checks.check(Form.parse(queryStringOf(returnTo)));
    if (checked.outcome === 'page') return undefined;
    if (checked.outcome === 'redirect') return { formTargets: [formTargetOf(checked.redirectUri)] };
    const { client, redirectUri } = checked.request;
    return { clientName: legible(client.name), formTargets: [formTargetOf(redirectUri)] };
  }
}

import { Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../../config/settings.js';
import { AddressRateLimitGuard } from '../../http/guards/address-rate-limit.guard.js';
import { Form, queryStringOf } from '../../http/forms/form.js';
import { legible } from '../../http/validation/legible-text.js';
import {
  OpenGet,
  OpenPages,
  OpenPost,
  type OpenAnswer,
  type OpenContext,
} from '../../http/page-routes/open-pages.js';
import { Context } from '../../http/page-routes/page-context.js';
import { originOf } from '../../http/server/request-origin.js';
import { safeReturnTo } from '../../http/forms/return-to.js';
import { SignInLimitsService } from '../../rate-limits/sign-in-limits.service.js';
import { SessionsService } from '../../users/sessions/sessions.service.js';
import type { UserEntity } from '../../users/accounts/user.entity.js';
import { AuthorizationRequestChecks } from './authorization-request.checks.js';
import { loggedInPage, loginPage } from './pages/login.page.js';
import { formTargetOf } from './redirect.js';

/** Login and logout (contract §3). `return_to` is a path of this service; anything else is ignored. */
@OpenPages()
@UseGuards(AddressRateLimitGuard)
export class LoginController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly limits: SignInLimitsService,
    private readonly checks: AuthorizationRequestChecks,
    private readonly settings: Settings,
  ) {}

  /** Shows the login form. A user who is already logged in is redirected to `return_to`, or sees who is logged in. */
  @OpenGet('login')
  async show(@Context() context: OpenContext, @Req() request: FastifyRequest): Promise<OpenAnswer> {
    const returnTo = safeReturnTo(context.query.get('return_to'));
    const user = await this.sessions.current(request);
    if (!user) return this.form({ returnTo });
    return returnTo ? { goTo: returnTo, status: 302 } : { page: loggedInPage(user) };
  }

  /** Logs in. An unknown email and a wrong password get the same response in the same time. Too many failures get a 429 page. */
  @OpenPost('login')
  async logIn(
    @Context() { form }: OpenContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    const returnTo = safeReturnTo(form.get('return_to'));
    const email = form.get('email') ?? '';
    const actor = { type: 'user', id: null, ...originOf(request) } as const;
    const attempt = await this.limits.admit(request, email);
    let user: UserEntity | undefined;
    try {
      const found = await this.sessions.checkPassword(email, form.get('password') ?? '', actor);
      const signIn = { method: 'password' } as const;
      if (
        found &&
        (await this.sessions.start(request, reply, found, signIn, actor, !attempt.isKnownBrowser))
      ) {
        user = found;
      }
    } finally {
      await this.limits.settle(attempt, user, request, reply);
    }
    if (user) return { goTo: returnTo ?? '/' };
    const error = 'The email or password is incorrect. Check both and try again.';
    return this.form({ returnTo, email: email.slice(0, 254), error });
  }

  @OpenPost('logout')
  async logOut(
    @Context() { form }: OpenContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    await this.sessions.signOut(request, reply, { type: 'user', id: null, ...originOf(request) });
    const returnTo = safeReturnTo(form.get('return_to'));
    const query = returnTo ? `?${new URLSearchParams({ return_to: returnTo }).toString()}` : '';
    return { goTo: `/login${query}` };
  }

  private async form(props: { returnTo?: string; email?: string; error?: string }): Promise<OpenAnswer> {
    const destination = await this.destinationOf(props.returnTo);
    return {
      page: loginPage({
        ...props,
        clientName: destination?.clientName,
        offersNewPassword: this.settings.sendsMail,
        offersSignUp: this.settings.signUp,
      }),
      status: props.error ? 401 : 200,
      formTargets: destination?.formTargets,
    };
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

import { Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import type { Form } from '#platform/http/forms/form.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import {
  OpenGet,
  OpenPages,
  OpenPost,
  OUT_OF_DATE,
  ShowsAgain,
} from '#platform/http/page-routes/open-pages.js';
import type { OpenAnswer, OpenContext } from '#platform/http/page-routes/open-pages.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { forbidden } from '#platform/http/problems/problem.js';
import { visitorOf } from '#platform/http/server/request-origin.js';
import { AFTER_LOGIN, safeReturnTo, withReturnTo } from '#platform/http/forms/return-to.js';
import { OfferedProviders } from '#access/identity-providers/sign-in/offered-providers.service.js';
import { SignInLimitsService } from '#access/rate-limits/sign-in/sign-in-limits.service.js';
import { secondFactorPath } from '#access/users/factors/factor-paths.js';
import { SessionsService } from '#access/users/sessions/sessions.service.js';
import { PendingSignInsService } from '#access/users/factors/pending-sign-ins.service.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import { SignInDestinations } from './sign-in-destinations.service.js';
import { signInPage, type SignInPageProps } from './sign-in.page.js';
import { say } from '#platform/language/text.js';

/** The longest email address. */
const EMAIL_MAX = 254;

/** Login and logout (contract §3). `return_to` is a path of this service; anything else is ignored. */
@OpenPages()
@UseGuards(AddressRateLimitGuard)
export class SignInController {
  constructor(
    private readonly sessions: SessionsService,
    private readonly limits: SignInLimitsService,
    private readonly destinations: SignInDestinations,
    private readonly factors: SecondFactorService,
    private readonly pending: PendingSignInsService,
    private readonly providers: OfferedProviders,
    private readonly settings: Settings,
  ) {}

  /** Shows the login form. A user who is already logged in is redirected to `return_to`, or to the account. */
  @OpenGet('login')
  async show(
    @Context() context: OpenContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    const asked = safeReturnTo(context.query.get('return_to'));
    const user = await this.sessions.current(request);
    if (!user) {
      const returnTo = asked ?? this.providers.returnAfterLogout(request);
      return (
        (await this.providers.redirectToSoleProvider(returnTo, request, reply)) ?? this.form({ returnTo })
      );
    }
    return { goTo: asked ?? AFTER_LOGIN, status: 302 };
  }

  /**
   * Logs in, or continues with the second factor. An unknown email and a wrong password get the same response in the same time.
   * Too many failures get a 429 page. A form that is out of date is shown again.
   */
  @OpenPost('login', ShowsAgain())
  async signIn(
    @Context() context: OpenContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    const { formOutOfDate } = context;
    if (formOutOfDate) return this.shownAgain(formOutOfDate);
    const { form } = context;
    if (!this.settings.passwordSignIn) {
      throw forbidden(say('Passwords are switched off. Choose another way to log in on the login page.'));
    }
    const returnTo = safeReturnTo(form.get('return_to'));
    const email = form.get('email')?.trim() ?? '';
    const actor = visitorOf(request);
    const attempt = await this.limits.admit(request, email);
    const password = form.get('password') ?? '';
    const outcome = await this.limits.compare(attempt, async () => {
      const user = await this.sessions.checkPassword(email, password, actor, () => {
        attempt.isWrong = true;
      });
      if (!user) return 'refused';
      if (await this.factors.isAskedAfterPassword(user)) {
        if (await this.pending.begin(reply, user)) return 'asked more';
        await this.sessions.refuse(user.id, 'password', actor);
        return 'refused';
      }
      const signIn = { method: 'password' } as const;
      const isNew = !attempt.isKnownBrowser;
      return (await this.sessions.start(request, reply, user, signIn, actor, isNew)) ? user : 'refused';
    });
    if (outcome === 'asked more') {
      await this.limits.settleUnfinished(attempt);
      return { goTo: secondFactorPath(returnTo) };
    }
    const user = outcome === 'refused' ? undefined : outcome;
    await this.limits.settle(attempt, user, request, reply);
    if (user) return { goTo: returnTo ?? AFTER_LOGIN };
    const error = say('The email or password is incorrect. Check both and try again.');
    return this.form({ returnTo, email: email.slice(0, EMAIL_MAX), error });
  }

  private async shownAgain(form: Form): Promise<OpenAnswer> {
    const returnTo = safeReturnTo(form.get('return_to'));
    const email = form.get('email')?.trim().slice(0, EMAIL_MAX);
    return { ...(await this.form({ returnTo, email, notice: OUT_OF_DATE })), status: 422 };
  }

  @OpenPost('logout')
  async logOut(
    @Context() { form }: OpenContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    const actor = visitorOf(request);
    const signIn = await this.sessions.signOut(request, reply, actor);
    const returnTo = safeReturnTo(form.get('return_to'));
    const logout = await this.providers.logoutOf(signIn, returnTo, reply);
    if (logout !== undefined) return logout;
    return { goTo: withReturnTo('/login', returnTo) };
  }

  private async form(props: Pick<SignInPageProps, 'returnTo' | 'email' | 'error' | 'notice'>) {
    return {
      page: signInPage({
        ...props,
        clientName: await this.destinations.nameOf(props.returnTo),
        providers: this.providers.all,
        withPassword: this.settings.passwordSignIn,
        offersNewPassword: this.settings.sendsMail,
        offersSignUp: this.settings.signUp,
      }),
      status: props.error ? 401 : 200,
    } satisfies OpenAnswer;
  }
}

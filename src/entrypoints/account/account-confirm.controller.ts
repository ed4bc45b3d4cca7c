import { Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { ReAuthentication } from '#access/identity-providers/sign-in/re-authentication.service.js';
import { PasswordConfirmations } from '#access/rate-limits/sign-in/password-confirmations.service.js';
import { PendingSignInsService } from '#access/users/factors/pending-sign-ins.service.js';
import { secondFactorPath } from '#access/users/factors/factor-paths.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import type { AccountAnswer, AccountContext } from './account-context.js';
import { confirmedPathIn, AccountGet, AccountPages, AccountPost } from './account.guard.js';
import { confirmPage } from './pages/confirm.page.js';

/** Asks users to log in again before they change how they log in (contract §16). */
@AccountPages('confirm')
@UseGuards(AddressRateLimitGuard)
export class AccountConfirmController {
  constructor(
    private readonly passwords: PasswordConfirmations,
    private readonly factors: SecondFactorService,
    private readonly pending: PendingSignInsService,
    private readonly providers: ReAuthentication,
  ) {}

  @AccountGet()
  ask(@Context() context: AccountContext): Promise<AccountAnswer> {
    return this.form(context, context.query.get('return_to'));
  }

  /**
   * The right password renews the session, under a new id; a wrong one counts like a failed login. If the user has a second factor that the session
   * lacks, the step that asks for it follows. Users who came from an identity provider authenticate there, as does everyone if passwords are
   * switched off.
   */
  @AccountPost()
  async confirm(
    @Context() context: AccountContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AccountAnswer> {
    const { user, actor, form, t } = context;
    const returnTo = confirmedPathIn(form.get('return_to'));
    if (!(await this.providers.isByPassword(user))) {
      const begun = await this.providers.begin(user, returnTo, request, reply);
      return 'leaveTo' in begun ? begun : this.form(context, returnTo, t(begun.error, begun.values));
    }
    const password = form.get('password') ?? '';
    if (!user.gaveSecondFactor && (await this.factors.isAskedAfterPassword(user))) {
      const account = await this.passwords.verify(user, password, actor, request, reply, true);
      if (!account) return this.form(context, returnTo, t('This is not your password.'));
      // Disabled or changed since: the next page leads to the login.
      if (!(await this.pending.begin(reply, account))) return { goTo: returnTo };
      return { goTo: secondFactorPath(returnTo) };
    }
    const outcome = await this.passwords.confirm(user, password, actor, request, reply);
    if (outcome === 'wrong') return this.form(context, returnTo, t('This is not your password.'));
    return { goTo: returnTo, notice: 'confirmed' };
  }

  private async form(
    { user }: AccountContext,
    returnTo: string | undefined,
    error?: string,
  ): Promise<AccountAnswer> {
    const place = (await this.providers.isByPassword(user)) ? undefined : await this.providers.placeOf(user);
    const hasPasskeys = (await this.factors.stateOf(user.id)).passkeys > 0 && !place?.isOnlyWay;
    const props = { returnTo: confirmedPathIn(returnTo), hasPasskeys, place, error };
    return { page: confirmPage(props), status: error ? 400 : 200 };
  }
}

import { Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { Settings } from '#platform/config/settings.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { SignInLimitsService } from '#access/rate-limits/sign-in/sign-in-limits.service.js';
import { PASSWORD_MAX, PASSWORD_MIN } from '#platform/secrets/passwords.js';
import { PasswordChangeService } from '#access/users/passwords/password-change.service.js';
import { PasswordsAllowedGuard } from '#access/users/passwords/passwords-allowed.guard.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import type { AccountAnswer, AccountContext } from './account-context.js';
import { AccountGet, AccountPages, AccountPost } from './account.guard.js';
import { noPasswordPage, passwordPage } from './pages/password.page.js';

const PATH = '/account/password';

/** Changes a user's own password. The guard below runs first: every request is counted for its address. */
@AccountPages('password')
@UseGuards(AddressRateLimitGuard, PasswordsAllowedGuard)
export class AccountPasswordController {
  constructor(
    private readonly passwords: PasswordChangeService,
    private readonly limits: SignInLimitsService,
    private readonly settings: Settings,
  ) {}

  @AccountGet()
  show(@Context() context: AccountContext): AccountAnswer {
    return this.form(context, {});
  }

  /**
   * Changes the password. A wrong current password counts like a failed login (contract §3), so that it cannot be guessed in a
   * browser that was left open: too many failures get a 429 page.
   */
  @AccountPost()
  async change(
    @Context() context: AccountContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AccountAnswer> {
    const { user, actor, form, t } = context;
    const password = form.get('password') ?? '';
    const errors = errorsOf(context);
    if (Object.keys(errors).length > 0) return this.form(context, errors);
    const account = await this.verified(context, form.get('current_password')!, request, reply);
    if (!account) return this.form(context, { current_password: t('This is not your current password.') });
    if (await this.passwords.change(account, user, password, request, reply, actor)) {
      return { goTo: PATH, notice: 'password_changed' };
    }
    // Changed or logged out in another browser: this one is logged out, or has to try again.
    return { goTo: PATH };
  }

  private async verified(
    { user, actor }: AccountContext,
    password: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<UserEntity | undefined> {
    const attempt = await this.limits.admit(request, user.email);
    const account = await this.limits.compare(attempt, () =>
      this.passwords.verify(user, password, actor, () => {
        attempt.isWrong = true;
      }),
    );
    await this.limits.settle(attempt, account, request, reply);
    return account;
  }

  private form(context: AccountContext, errors: FieldErrors): AccountAnswer {
    const { email, hasPassword } = context.user;
    const page = hasPassword
      ? passwordPage({ email, errors })
      : noPasswordPage({ byMail: this.settings.sendsMail });
    return { page, status: Object.keys(errors).length > 0 ? 400 : 200 };
  }
}

function errorsOf({ form, t }: AccountContext): FieldErrors {
  const password = form.get('password') ?? '';
  const tooShortOrLong = password.length < PASSWORD_MIN || password.length > PASSWORD_MAX;
  return {
    ...(form.get('current_password') === undefined
      ? { current_password: t('Enter your current password.') }
      : {}),
    ...(tooShortOrLong
      ? {
          password: t('The new password must have {min} to {max} characters.', {
            min: PASSWORD_MIN,
            max: PASSWORD_MAX,
          }),
        }
      : {}),
    ...(!tooShortOrLong && password !== form.get('password_again')
      ? { password_again: t('The two new passwords are not the same.') }
      : {}),
  };
}

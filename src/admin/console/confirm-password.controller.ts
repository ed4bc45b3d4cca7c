import { Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FormBody } from '../../http/form-body.decorator.js';
import { Form, queryStringOf } from '../../http/form.js';
import { safeReturnTo } from '../../http/return-to.js';
import { SignInLimitsService } from '../../rate-limits/sign-in-limits.service.js';
import { PasswordChangeService } from '../../users/password-change.service.js';
import type { UserEntity } from '../../users/user.entity.js';
import { ConsolePages, Does, Shows, Visit } from './console-pages.decorator.js';
import { CONSOLE_PATH, type ConsoleAnswer, type ConsoleVisit } from './console-visit.js';
import { confirmPasswordPage } from './pages/confirm-password.page.js';
import { CONFIRM_PATH } from './second-look.js';

/** Asks for the password once more before what cannot be undone. */
@ConsolePages('confirm-password')
export class ConsoleConfirmPasswordController {
  constructor(
    private readonly passwords: PasswordChangeService,
    private readonly limits: SignInLimitsService,
  ) {}

  @Shows()
  ask(@Visit() visit: ConsoleVisit): ConsoleAnswer {
    return this.form(visit, Form.parse(queryStringOf(visit.url)).get('return_to'));
  }

  /** A wrong password counts like a failed sign-in; the right one renews the session, under a new id. */
  @Does()
  async confirm(
    @Visit() visit: ConsoleVisit,
    @FormBody() form: Form,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ConsoleAnswer> {
    const returnTo = form.get('return_to');
    const account = await this.verified(visit, form.get('password') ?? '', request, reply);
    if (!account) return this.form(visit, returnTo, 'this is not your password');
    // False where this browser was signed out meanwhile: the next page sends it to the login.
    await this.passwords.confirm(account, visit.user, request, reply, visit.actor);
    return { goTo: consolePathIn(returnTo), notice: 'password_confirmed' };
  }

  private async verified(
    { user, actor }: ConsoleVisit,
    password: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<UserEntity | undefined> {
    const attempt = await this.limits.admit(request, user.email);
    let account: UserEntity | undefined;
    try {
      account = await this.passwords.verify(user, password, actor, 'session.confirmation_refused');
    } finally {
      await this.limits.settle(attempt, account !== undefined, request, reply);
    }
    return account;
  }

  private form(visit: ConsoleVisit, returnTo: string | undefined, error?: string): ConsoleAnswer {
    const html = confirmPasswordPage({
      frame: visit.frame,
      csrfToken: visit.tokenFor(CONFIRM_PATH),
      returnTo: consolePathIn(returnTo),
      error,
    });
    return { html, status: error ? 400 : 200 };
  }
}

/** A path of the console; anything else is ignored. */
function consolePathIn(returnTo: string | undefined): string {
  const path = safeReturnTo(returnTo);
  return path?.startsWith(`${CONSOLE_PATH}/`) ? path : CONSOLE_PATH;
}

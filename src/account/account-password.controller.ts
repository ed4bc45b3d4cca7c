import { Controller, Get, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CsrfService } from '../http/csrf.service.js';
import { FormBody } from '../http/form-body.decorator.js';
import type { Form } from '../http/form.js';
import { PageRoute, sendPage } from '../http/send-page.js';
import { AddressRateLimitGuard } from '../http/address-rate-limit.guard.js';
import { SignInLimitsService } from '../rate-limits/sign-in-limits.service.js';
import { PASSWORD_MAX, PASSWORD_MIN } from '../secrets/passwords.js';
import { PasswordChangeService } from '../users/password-change.service.js';
import type { SignedInUser } from '../users/sessions.repository.js';
import type { UserEntity } from '../users/user.entity.js';
import { AccountVisits, actorOf, bindingOf } from './account-visits.js';
import { passwordPage, type PasswordErrors } from './pages/password.page.js';

const PATH = '/account/password';
const BINDING = 'password';

/** Changes a user's own password. */
@Controller(PATH)
@UseGuards(AddressRateLimitGuard)
export class AccountPasswordController {
  constructor(
    private readonly visits: AccountVisits,
    private readonly passwords: PasswordChangeService,
    private readonly limits: SignInLimitsService,
    private readonly csrf: CsrfService,
  ) {}

  @Get()
  @PageRoute()
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const user = await this.visits.visitor(request, reply, PATH);
    if (user) this.sendForm(user, request, reply, {});
  }

  /**
   * Changes the password. A wrong current password counts like a failed login (contract §3), so that nobody can guess it in a
   * browser left open: too many failures get a 429 page.
   */
  @Post()
  @PageRoute()
  async change(
    @FormBody() form: Form,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const user = await this.visits.visitor(request, reply, PATH);
    if (!user) return;
    this.csrf.check(request, form, bindingOf(user, BINDING));
    const password = form.get('password') ?? '';
    const errors = errorsOf(form);
    if (Object.keys(errors).length > 0) return this.sendForm(user, request, reply, errors);
    const account = await this.verified(user, form.get('current_password')!, request, reply);
    if (!account) {
      return this.sendForm(user, request, reply, { current: 'This is not your current password.' });
    }
    const actor = actorOf(user, request);
    if (await this.passwords.change(account, user, password, request, reply, actor)) {
      return this.visits.goOn(reply, PATH, 'password_changed');
    }
    // Changed or logged out in another browser meanwhile: this one is logged out, or has to try again.
    void reply.header('cache-control', 'no-store').redirect(PATH, 303);
  }

  private async verified(
    user: SignedInUser,
    password: string,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<UserEntity | undefined> {
    const attempt = await this.limits.admit(request, user.email);
    let account: UserEntity | undefined;
    try {
      account = await this.passwords.verify(user, password, actorOf(user, request));
    } finally {
      await this.limits.settle(attempt, account, request, reply);
    }
    return account;
  }

  private sendForm(
    user: SignedInUser,
    request: FastifyRequest,
    reply: FastifyReply,
    errors: PasswordErrors,
  ): void {
    const html = passwordPage({
      frame: this.visits.frame(request, reply, user),
      csrfToken: this.csrf.tokenFor(request, reply, bindingOf(user, BINDING)),
      errors,
    });
    sendPage(reply, html, { status: Object.keys(errors).length > 0 ? 400 : 200 });
  }
}

function errorsOf(form: Form): PasswordErrors {
  const password = form.get('password') ?? '';
  const tooShortOrLong = password.length < PASSWORD_MIN || password.length > PASSWORD_MAX;
  return {
    ...(form.get('current_password') === undefined ? { current: 'Enter your current password.' } : {}),
    ...(tooShortOrLong
      ? { password: `The new password must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.` }
      : {}),
    ...(!tooShortOrLong && password !== form.get('password_again')
      ? { again: 'The two new passwords are not the same.' }
      : {}),
  };
}

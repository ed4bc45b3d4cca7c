import { Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Settings } from '../config/settings.js';
import { safeReturnTo } from '../http/forms/return-to.js';
import { AddressRateLimitGuard } from '../http/guards/address-rate-limit.guard.js';
import {
  OpenGet,
  OpenPages,
  OpenPost,
  type OpenAnswer,
  type OpenContext,
} from '../http/page-routes/open-pages.js';
import { Context } from '../http/page-routes/page-context.js';
import { notFound } from '../http/problems/problem.js';
import { visitorOf } from '../http/server/request-origin.js';
import { MailLimitsService } from '../rate-limits/sign-in/mail-limits.service.js';
import { PasswordLinksService } from '../users/passwords/password-links.service.js';
import { AfterAnswer } from '../account/sign-up/after-answer.service.js';
import { emailIn } from '../account/sign-up/email-field.js';
import { emailFormPage, mailSentPage } from '../account/sign-up/email-form.page.js';
import { say } from '../language/text.js';

const FORM = {
  title: say('Forgot your password?'),
  text: say(
    'Enter the email address of your account. We send you a link with which you can set a new password.',
  ),
  action: '/password/forgotten',
  submit: say('Send link'),
};

/** Mails a link to set a new password (contract §18). The answer is the same for every address. */
@OpenPages('password/forgotten')
@UseGuards(AddressRateLimitGuard)
export class ForgottenPasswordController {
  constructor(
    private readonly settings: Settings,
    private readonly links: PasswordLinksService,
    private readonly limits: MailLimitsService,
    private readonly afterAnswer: AfterAnswer,
  ) {}

  @OpenGet()
  show(@Context() { query }: OpenContext): OpenAnswer {
    this.refuseWithoutMail();
    return { page: emailFormPage({ ...FORM, returnTo: safeReturnTo(query.get('return_to')) }) };
  }

  @OpenPost()
  async send(@Context() { form }: OpenContext, @Req() request: FastifyRequest): Promise<OpenAnswer> {
    this.refuseWithoutMail();
    const { email, error } = emailIn(form);
    const returnTo = safeReturnTo(form.get('return_to'));
    if (error !== undefined) return { page: emailFormPage({ ...FORM, email, error, returnTo }), status: 400 };
    if (await this.limits.admit(email, request.ip)) {
      const actor = visitorOf(request);
      this.afterAnswer.run('A link for a forgotten password', () =>
        this.links.mailTo(email, returnTo, actor),
      );
    }
    return {
      page: mailSentPage(
        email,
        say(
          'If there is an account with this address, it gets a mail with a link to set a new password. The link works for one hour.',
        ),
        returnTo,
      ),
    };
  }

  private refuseWithoutMail(): void {
    if (!this.settings.sendsMail || !this.settings.passwordSignIn)
      throw notFound(say('There is no such page.'));
  }
}

import { Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { OpenGet, OpenPages, OpenPost, ShowsAgain } from '#platform/http/page-routes/open-pages.js';
import type { OpenAnswer, OpenContext } from '#platform/http/page-routes/open-pages.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { notFound } from '#platform/http/problems/problem.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { MailedLinks, type MailedLink } from '#entrypoints/account/sign-up/mailed-links.service.js';
import { say } from '#platform/language/text.js';

/** Mails a link to set a new password (contract §18). The answer is the same for every address. */
@OpenPages('password/forgotten')
@UseGuards(AddressRateLimitGuard)
export class ForgottenPasswordController {
  constructor(
    private readonly settings: Settings,
    private readonly links: PasswordLinksService,
    private readonly mailed: MailedLinks,
  ) {}

  private readonly link: MailedLink = {
    name: 'A link for a forgotten password',
    form: {
      title: say('Forgot your password?'),
      text: say(
        'Enter the email address of your account. We send you a link with which you can set a new password.',
      ),
      action: '/password/forgotten',
      submit: say('Send link'),
    },
    sent: say(
      'If there is an account with this address, it gets a mail with a link to set a new password. The link works for one hour.',
    ),
    mail: (...to) => this.links.mailTo(...to),
  };

  @OpenGet()
  show(@Context() context: OpenContext): OpenAnswer {
    this.refuseWithoutMail();
    return this.mailed.ask(this.link, context);
  }

  @OpenPost('', ShowsAgain())
  async send(@Context() context: OpenContext, @Req() request: FastifyRequest): Promise<OpenAnswer> {
    this.refuseWithoutMail();
    return this.mailed.send(this.link, context, request);
  }

  private refuseWithoutMail(): void {
    if (!this.settings.sendsMail || !this.settings.passwordSignIn)
      throw notFound(say('There is no such page.'));
  }
}

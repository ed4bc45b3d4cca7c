import { Param, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { withReturnTo } from '#platform/http/forms/return-to.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { OpenGet, OpenPages, OpenPost } from '#platform/http/page-routes/open-pages.js';
import type { OpenAnswer, OpenContext } from '#platform/http/page-routes/open-pages.js';
import { linkGone } from '#platform/http/page-routes/link-gone.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { messagePage } from '#platform/web/layout/message.page.js';
import { visitorOf } from '#platform/http/server/request-origin.js';
import { PASSWORD_MAX, PASSWORD_MIN } from '#platform/secrets/passwords.js';
import { MailedSignInsService } from '#access/users/emails/mailed-sign-ins.service.js';
import { PasswordsAllowedGuard } from '#access/users/passwords/passwords-allowed.guard.js';
import { setPasswordPage } from './set-password.page.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { say } from '#platform/language/text.js';

/** The page of a password link. The key is part of its path, which platform/http/server/security-headers.ts keeps out of every Referer. */
@OpenPages('password/:key')
@UseGuards(AddressRateLimitGuard, PasswordsAllowedGuard)
export class PasswordLinksController {
  constructor(
    private readonly links: PasswordLinksService,
    private readonly logins: MailedSignInsService,
  ) {}

  @OpenGet()
  show(@Param('key') key: string): Promise<OpenAnswer> {
    return this.form(key);
  }

  /** Sets the password. A link that was mailed on the way to somewhere logs in and leads there. */
  @OpenPost()
  async set(
    @Param('key') key: string,
    @Context() { form }: OpenContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    const password = form.get('password') ?? '';
    const error = passwordError(password, form.get('password_again') ?? '');
    if (error) return this.form(key, error);
    const actor = visitorOf(request);
    const set = await this.links.redeem(key, password, actor);
    if (!set) return gone();
    const { user, returnTo } = set;
    if (returnTo === undefined) return { page: done() };
    const goTo = await this.logins.signIn(request, reply, user, 'password', returnTo, actor);
    return goTo === undefined ? { page: done(returnTo) } : { goTo };
  }

  private async form(key: string, error?: string): Promise<OpenAnswer> {
    const link = await this.links.find(key);
    if (!link) return gone();
    const page = setPasswordPage({ ...link, action: `/password/${key}`, error });
    return { page, status: error ? 400 : 200 };
  }
}

const done = (returnTo?: string): LayoutProps =>
  messagePage({
    title: say('Password set'),
    heading: say('Your password has been set'),
    text: say('You can log in with it now. You have been logged out everywhere else.'),
    action: { href: withReturnTo('/login', returnTo), label: say('Go to the login page') },
    isTranslated: true,
  });

const gone = (): OpenAnswer =>
  linkGone(
    say('A link to set a password works once and for a limited time. Ask for a new one where you got it.'),
  );

function passwordError(password: string, again: string): string | undefined {
  if (password.length < PASSWORD_MIN || password.length > PASSWORD_MAX) {
    return say('The password must have 12 to 256 characters.');
  }
  return password === again ? undefined : say('The two passwords are not the same.');
}

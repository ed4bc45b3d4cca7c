import { Param, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { AddressRateLimitGuard } from '../../http/guards/address-rate-limit.guard.js';
import {
  OpenGet,
  OpenPages,
  OpenPost,
  type OpenAnswer,
  type OpenContext,
} from '../../http/page-routes/open-pages.js';
import { linkGone } from '../../http/page-routes/link-gone.js';
import { Context } from '../../http/page-routes/page-context.js';
import type { LayoutProps } from '../../web/layout/layout.js';
import { messagePage } from '../../web/layout/message.page.js';
import { originOf } from '../../http/server/request-origin.js';
import { PASSWORD_MAX, PASSWORD_MIN } from '../../secrets/passwords.js';
import { PasswordsAllowedGuard } from './passwords-allowed.guard.js';
import { setPasswordPage } from './set-password.page.js';
import { PasswordLinksService } from './password-links.service.js';

/** The page of a password link. The key is part of its path, which http/server/security-headers.ts keeps out of every Referer. */
@OpenPages('password/:key')
@UseGuards(AddressRateLimitGuard, PasswordsAllowedGuard)
export class PasswordLinksController {
  constructor(private readonly links: PasswordLinksService) {}

  @OpenGet()
  show(@Param('key') key: string): Promise<OpenAnswer> {
    return this.form(key);
  }

  @OpenPost()
  async set(
    @Param('key') key: string,
    @Context() { form }: OpenContext,
    @Req() request: FastifyRequest,
  ): Promise<OpenAnswer> {
    const password = form.get('password') ?? '';
    const error = passwordError(password, form.get('password_again') ?? '');
    if (error) return this.form(key, error);
    const isSet = await this.links.redeem(key, password, { type: 'user', id: null, ...originOf(request) });
    return isSet ? { page: done() } : gone();
  }

  private async form(key: string, error?: string): Promise<OpenAnswer> {
    const link = await this.links.find(key);
    if (!link) return gone();
    const page = setPasswordPage({ action: `/password/${key}`, email: link.email, error });
    return { page, status: error ? 400 : 200 };
  }
}

const done = (): LayoutProps =>
  messagePage({
    title: 'Password set',
    heading: 'Your password has been set',
    text: 'You can log in with it now. You have been logged out everywhere else.',
    action: { href: '/login', label: 'Go to the login page' },
  });

const gone = (): OpenAnswer =>
  linkGone('A link to set a password works once and for a limited time. Ask for a new one where you got it.');

function passwordError(password: string, again: string): string | undefined {
  if (password.length < PASSWORD_MIN || password.length > PASSWORD_MAX) {
    return `The password must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.`;
  }
  return password === again ? undefined : 'The two passwords are not the same.';
}

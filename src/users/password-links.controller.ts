import { Controller, Get, HttpCode, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { originOf } from '../http/request-origin.js';
import { AddressRateLimitGuard } from '../http/address-rate-limit.guard.js';
import { CsrfService } from '../http/csrf.service.js';
import { FormBody } from '../http/form-body.decorator.js';
import type { Form } from '../http/form.js';
import { PageRoute, sendPage } from '../http/send-page.js';
import { messagePage } from '../http/pages/message.page.js';
import { PASSWORD_MAX, PASSWORD_MIN } from '../secrets/passwords.js';
import { setPasswordPage } from './pages/set-password.page.js';
import { PasswordLinksService } from './password-links.service.js';

/** The page of a password link. The key is part of its path, which http/security-headers.ts keeps out of every Referer. */
@Controller('password/:key')
@UseGuards(AddressRateLimitGuard)
export class PasswordLinksController {
  constructor(
    private readonly links: PasswordLinksService,
    private readonly csrf: CsrfService,
  ) {}

  @Get()
  @PageRoute()
  async show(
    @Param('key') key: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.sendForm(key, request, reply);
  }

  @Post()
  @HttpCode(200)
  @PageRoute()
  async set(
    @Param('key') key: string,
    @FormBody() form: Form,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.csrf.check(request, form, `password ${key}`);
    const password = form.get('password') ?? '';
    const error = passwordError(password, form.get('password_again') ?? '');
    if (error) return this.sendForm(key, request, reply, error);
    const done = await this.links.redeem(key, password, { type: 'user', id: null, ...originOf(request) });
    if (!done) return this.sendGone(reply);
    sendPage(
      reply,
      messagePage({
        title: 'Password set',
        heading: 'Your password has been set',
        text: 'You can log in with it now. You have been logged out everywhere else.',
        action: { href: '/login', label: 'Go to the login page' },
      }),
    );
  }

  private async sendForm(
    key: string,
    request: FastifyRequest,
    reply: FastifyReply,
    error?: string,
  ): Promise<void> {
    const link = await this.links.find(key);
    if (!link) return this.sendGone(reply);
    const csrfToken = this.csrf.tokenFor(request, reply, `password ${key}`);
    const html = setPasswordPage({ csrfToken, action: `/password/${key}`, email: link.email, error });
    sendPage(reply, html, { status: error ? 400 : 200 });
  }

  private sendGone(reply: FastifyReply): void {
    sendPage(
      reply,
      messagePage({
        title: 'Link no longer works',
        heading: 'This link no longer works',
        text: 'A link to set a password works once, within 24 hours. Ask for a new one where you got it.',
      }),
      { status: 410 },
    );
  }
}

function passwordError(password: string, again: string): string | undefined {
  if (password.length < PASSWORD_MIN || password.length > PASSWORD_MAX) {
    return `The password must have ${PASSWORD_MIN} to ${PASSWORD_MAX} characters.`;
  }
  return password === again ? undefined : 'The two passwords are not the same.';
}

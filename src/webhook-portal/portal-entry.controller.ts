import { Controller, Get, Param, Post, Req, Res, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { originOf } from '../http/request-origin.js';
import { AddressRateLimitGuard } from '../http/address-rate-limit.guard.js';
import { Cookies } from '../http/cookies.js';
import { CsrfService } from '../http/csrf.service.js';
import { FormBody } from '../http/form-body.decorator.js';
import type { Form } from '../http/form.js';
import { PageRoute, sendPage } from '../http/send-page.js';
import { legible } from '../http/legible-text.js';
import { linkGonePage } from './pages/link-gone.page.js';
import { openPortalPage } from './pages/open-portal.page.js';
import { PortalAccessService } from './portal-access.service.js';
import { PortalVisit } from './portal-visit.js';

/**
 * Entering and leaving the webhook portal. The key is only in the path of its page, which http/security-headers.ts keeps out of
 * every Referer.
 */
@Controller('portal')
@UseGuards(AddressRateLimitGuard)
export class PortalEntryController {
  constructor(
    private readonly access: PortalAccessService,
    private readonly csrf: CsrfService,
    private readonly cookies: Cookies,
  ) {}

  /** The page of a one-time link: its button redeems the link, so that previews and scanners cannot. */
  @Get('login/:key')
  @PageRoute()
  async showLink(
    @Param('key') key: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const owner = await this.access.findLink(key);
    if (!owner) return this.sendGone(reply);
    const html = openPortalPage({
      csrfToken: this.csrf.tokenFor(request, reply, keyBinding(key)),
      clientName: legible(owner.clientName),
      ownerName: legible(owner.ownerName),
      action: `/portal/login/${key}`,
      expiresInMinutes: Math.max(1, Math.round(owner.secondsLeft / 60)),
    });
    sendPage(reply, html);
  }

  @Post('login/:key')
  @PageRoute()
  async redeem(
    @Param('key') key: string,
    @FormBody() form: Form,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    this.csrf.check(request, form, keyBinding(key));
    const opened = await this.access.redeem(key, request, reply, {
      type: 'client',
      id: null,
      ...originOf(request),
    });
    if (!opened) return this.sendGone(reply);
    void reply.header('cache-control', 'no-store').redirect('/portal', 303);
  }

  /** Ends the session, if there is one. */
  @Post('logout')
  @PageRoute()
  async logOut(
    @FormBody() form: Form,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const visitor = await this.access.visitor(request);
    if (visitor) new PortalVisit(visitor, request, reply, this.csrf, this.cookies).check(form, 'log out');
    await this.access.leave(request, reply);
    void reply.header('cache-control', 'no-store').redirect('/portal', 303);
  }

  private sendGone(reply: FastifyReply): void {
    sendPage(reply, linkGonePage(), { status: 410 });
  }
}

const keyBinding = (key: string): string => `portal link ${key}`;

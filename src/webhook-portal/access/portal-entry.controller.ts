import { Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { legible } from '../../http/validation/legible-text.js';
import type { OpenAnswer } from '../../http/page-routes/open-pages.js';
import { originOf } from '../../http/server/request-origin.js';
import { linkGonePage } from './link-gone.page.js';
import { openPortalPage } from './open-portal.page.js';
import { PortalAccessService } from './portal-access.service.js';
import { PortalEntryGet, PortalEntryPages, PortalEntryPost } from './portal-entry.guard.js';

/**
 * Entering and leaving the webhook portal. The key is only in the path of its page, which http/server/security-headers.ts keeps out of
 * every Referer.
 */
@PortalEntryPages()
export class PortalEntryController {
  constructor(private readonly access: PortalAccessService) {}

  /** The page of a one-time link: its button redeems the link, so that previews and scanners cannot. */
  @PortalEntryGet('login/:key')
  async showLink(@Param('key') key: string): Promise<OpenAnswer> {
    const owner = await this.access.findLink(key);
    if (!owner) return linkGone();
    const page = openPortalPage({
      clientName: legible(owner.clientName),
      environment: owner.environment,
      ownerName: legible(owner.ownerName),
      action: `/portal/login/${key}`,
      expiresInMinutes: Math.max(1, Math.round(owner.secondsLeft / 60)),
    });
    return { page };
  }

  @PortalEntryPost('login/:key')
  async redeem(
    @Param('key') key: string,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    const actor = { type: 'client', id: null, ...originOf(request) } as const;
    const opened = await this.access.redeem(key, request, reply, actor);
    return opened ? { goTo: '/portal' } : linkGone();
  }

  /** Ends the session, if there is one. */
  @PortalEntryPost('logout')
  async logOut(
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    await this.access.leave(request, reply);
    return { goTo: '/portal' };
  }
}

const linkGone = (): OpenAnswer => ({ page: linkGonePage(), status: 410 });

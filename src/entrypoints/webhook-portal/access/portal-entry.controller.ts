import { Param, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { legible } from '#platform/http/validation/legible-text.js';
import type { OpenAnswer, OpenContext } from '#platform/http/page-routes/open-pages.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { originOf } from '#platform/http/server/request-origin.js';
import { linkGonePage } from './link-gone.page.js';
import { openPortalPage } from './open-portal.page.js';
import { PortalAccessService } from './portal-access.service.js';
import { PortalEntryGet, PortalEntryPages, PortalEntryPost } from './portal-entry.guard.js';

/** The only page other than the first that a link can open. */
const SANDBOX = 'sandbox';

/**
 * Enters and leaves the webhook portal. The key is only in the path of this page, and platform/http/server/security-headers.ts keeps paths
 * out of the Referer header.
 */
@PortalEntryPages()
export class PortalEntryController {
  constructor(private readonly access: PortalAccessService) {}

  /**
   * The page of a one-time link: only its button redeems the link. `?page=sandbox` opens the portal on that page, if the portal
   * has it.
   */
  @PortalEntryGet('login/:key')
  async showLink(@Param('key') key: string, @Context() { query }: OpenContext): Promise<OpenAnswer> {
    const portal = await this.access.findLink(key);
    if (!portal) return linkGone();
    const page = openPortalPage({
      clientName: legible(portal.clientName),
      environment: portal.environment,
      ownerName: legible(portal.ownerName),
      action: `/portal/login/${key}`,
      page: portal.environment === 'sandbox' && query.get('page') === SANDBOX ? SANDBOX : undefined,
      secondsLeft: portal.secondsLeft,
    });
    return { page };
  }

  @PortalEntryPost('login/:key')
  async redeem(
    @Param('key') key: string,
    @Context() { form }: OpenContext,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<OpenAnswer> {
    const actor = { type: 'client', id: null, ...originOf(request) } as const;
    const opened = await this.access.redeem(key, request, reply, actor);
    if (!opened) return linkGone();
    return { goTo: form.get('page') === SANDBOX ? '/portal/sandbox' : '/portal' };
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

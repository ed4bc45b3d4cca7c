import { Controller, Get, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiEndpoint, NOT_CACHED } from '#platform/http/api/api-answers.js';
import { LinkView } from '#platform/http/api/api-schemas.js';
import { CurrentPrincipal } from '#access/tokens/access/current-principal.decorator.js';
import { PartnerAnswer, PartnerEndpoint } from '#access/rate-limits/partners/partner-endpoint.decorator.js';
import type { Principal } from '#access/tokens/access/principal.js';
import { PortalAccessService } from './portal-access.service.js';

/** Retrieve access link for the webhook portal (source specification §4.4). */
@Controller('webhook_portal')
@ApiTags('Events')
export class WebhookPortalLinkController {
  constructor(private readonly access: PortalAccessService) {}

  /** 200 `{"url"}`, a link that works once; 403 for a caller that is not the client itself. HEAD creates no link. */
  @Get()
  @PartnerEndpoint()
  @ApiEndpoint(
    'webhookPortal',
    'Retrieve access link for the webhook portal',
    'A link that works once, within 5 minutes. Only for the client itself: with a client-credentials token or, for a confidential client, a token of its owner.',
  )
  @PartnerAnswer('The link.', LinkView, NOT_CACHED)
  async create(
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<LinkView> {
    void reply.header('cache-control', 'no-store');
    // Only its length is sent (RFC 9110 §8.6).
    if (request.method === 'HEAD') return { url: this.access.emptyLink(principal) };
    return { url: await this.access.createLink(principal) };
  }
}

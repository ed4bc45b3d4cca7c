import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CurrentPrincipal } from '../tokens/current-principal.decorator.js';
import { PartnerEndpoint } from '../rate-limits/partner-endpoint.decorator.js';
import type { Principal } from '../tokens/principal.js';
import { PortalAccessService } from './portal-access.service.js';

/** Retrieve access link for the webhook portal (source specification §4.4). */
@Controller('webhook_portal')
export class WebhookPortalLinkController {
  constructor(private readonly access: PortalAccessService) {}

  /** 200 `{"url"}`, a link that works once; 403 for a caller that is not the client itself. HEAD creates no link. */
  @Get()
  @PartnerEndpoint()
  async create(
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<{ url: string } | undefined> {
    void reply.header('cache-control', 'no-store');
    if (request.method === 'HEAD') {
      this.access.checkCaller(principal);
      void reply.type('application/json; charset=utf-8');
      return undefined;
    }
    return { url: await this.access.createLink(principal) };
  }
}

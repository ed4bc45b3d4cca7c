import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FormBody } from '../http/form-body.decorator.js';
import { Form, queryStringOf } from '../http/form.js';
import { RateLimitsService } from '../rate-limits/rate-limits.service.js';
import { DeliveriesService } from '../webhooks/deliveries/deliveries.service.js';
import type { EndpointEntity } from '../webhooks/endpoints/endpoint.entity.js';
import { EndpointsService } from '../webhooks/endpoints/endpoints.service.js';
import { recoverPage } from './pages/recover.page.js';
import { recoveryPage } from './pages/recovery.page.js';
import { PortalPage, Visit } from './portal-page.decorator.js';
import type { PortalVisit } from './portal-visit.js';
import { readRecoveryQuery, type RecoveryQuery } from './recovery-query.js';

/** Recoveries resend everything that failed between two times (contract §11.4), with a count before and progress during. */
@Controller('portal')
export class PortalRecoveriesController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly limits: RateLimitsService,
  ) {}

  /** Counts what failed `from` … `to` (UTC); by default in the last 24 hours. */
  @Get('endpoints/:id/recover')
  @PortalPage()
  async count(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Visit() visit: PortalVisit,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const endpoint = await this.endpoints.get(id, visit.clientId);
    const query = readRecoveryQuery(Form.parse(queryStringOf(request.url)), new Date());
    await this.sendForm(endpoint, query, visit, reply);
  }

  /** Resends them; a 429 page over the limit. */
  @Post('endpoints/:id/recover')
  @PortalPage()
  async recover(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @FormBody() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const endpoint = await this.endpoints.get(id, visit.clientId);
    visit.check(form, `recover ${id}`);
    const query = readRecoveryQuery(form, new Date());
    if (!query.range || !endpoint.enabled) return this.sendForm(endpoint, query, visit, reply);
    const range = { endpointId: id, ...query.range };
    await this.limits.countPortalRecovery(visit.clientId);
    const recoveryId = await this.deliveries.recover(visit.clientId, range, visit.actor);
    visit.goOn(reply, `/portal/recoveries/${recoveryId}`);
  }

  @Get('recoveries/:id')
  @PortalPage()
  async show(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const recovery = await this.deliveries.recovery(id, visit.clientId);
    visit.send(reply, recoveryPage({ frame: visit.frame(), recovery, now: new Date() }));
  }

  private async sendForm(
    endpoint: EndpointEntity,
    query: RecoveryQuery,
    visit: PortalVisit,
    reply: FastifyReply,
  ): Promise<void> {
    const { id } = endpoint;
    const html = recoverPage({
      frame: visit.frame(),
      csrfToken: visit.tokenFor(`recover ${id}`),
      endpoint,
      query,
      count:
        query.range &&
        (await this.deliveries.countFailed(visit.clientId, { endpointId: id, ...query.range })),
    });
    visit.send(reply, html, query.range ? 200 : 400);
  }
}

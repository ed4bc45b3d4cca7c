import { Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { FormBody } from '../http/form-body.decorator.js';
import type { Form } from '../http/form.js';
import { badRequest } from '../http/problem.js';
import { DeliveriesService } from '../webhooks/deliveries/deliveries.service.js';
import type { EndpointEntity } from '../webhooks/endpoints/endpoint.entity.js';
import { EndpointsService, nameOfSecret } from '../webhooks/endpoints/endpoints.service.js';
import { bucketsOf, rangeStart, type ChartRange } from './pages/charts/time-buckets.js';
import { deleteEndpointPage } from './pages/delete-endpoint.page.js';
import { endpointPage } from './pages/endpoint.page.js';
import { rotateSecretPage } from './pages/rotate-secret.page.js';
import { PortalPage, Visit } from './portal-page.decorator.js';
import type { PortalVisit } from './portal-visit.js';

const NEWEST = 10;
const DAY_MS = 86_400_000;

/** One endpoint (contract §11.2): its page, its secret, and actions on it. Another client's endpoint is a 404 page. */
@Controller('portal/endpoints/:id')
export class PortalEndpointController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly deliveries: DeliveriesService,
  ) {}

  /** `?range=7d` shows days instead of hours. */
  @Get()
  @PortalPage()
  async show(
    @Param('id') id: string,
    @Query('range') range: unknown,
    @Visit() visit: PortalVisit,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const endpoint = await this.endpoints.get(id, visit.clientId);
    await this.sendPage(endpoint, visit, reply, { range: range === '7d' ? '7d' : '24h' });
  }

  @Post('enable')
  @PortalPage()
  enable(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @FormBody() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.switch(id, true, visit, form, reply);
  }

  @Post('disable')
  @PortalPage()
  disable(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @FormBody() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    return this.switch(id, false, visit, form, reply);
  }

  /** Shows the page with the secret in clear text, only in this response. */
  @Post('secret')
  @PortalPage()
  async reveal(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @FormBody() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const endpoint = await this.endpoints.get(id, visit.clientId);
    visit.check(form, `reveal ${id}`);
    const secret = await this.endpoints.revealSecret(id, visit.clientId, visit.actor);
    await this.sendPage(endpoint, visit, reply, { range: '24h', secret });
  }

  /** For browsers that open the URL of the revealed secret again. */
  @Get('secret')
  @PortalPage()
  hide(@Param('id') id: string, @Visit() visit: PortalVisit, @Res() reply: FastifyReply): void {
    visit.goOn(reply, `/portal/endpoints/${encodeURIComponent(id)}`);
  }

  @Get('rotate')
  @PortalPage()
  async confirmRotation(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const endpoint = await this.endpoints.get(id, visit.clientId);
    const { url, previousSecretExpiresAt } = endpoint;
    const html = rotateSecretPage({
      frame: visit.frame(),
      csrfToken: visit.tokenFor(`rotate ${id}`),
      endpointUrl: url,
      fields: { present: nameOfSecret(endpoint) },
      action: `/portal/endpoints/${id}/rotate`,
      back: `/portal/endpoints/${id}`,
      until: new Date(Date.now() + DAY_MS),
      hasPrevious: previousSecretExpiresAt !== null && previousSecretExpiresAt > new Date(),
    });
    visit.send(reply, html);
  }

  /** Rotates the secret that the page showed; a second submit has no effect. */
  @Post('rotate')
  @PortalPage()
  async rotate(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @FormBody() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.endpoints.get(id, visit.clientId);
    visit.check(form, `rotate ${id}`);
    const present = form.get('present');
    if (present === undefined)
      throw badRequest('The form is incomplete. Go back, reload the page and try again.');
    await this.endpoints.rotateSecretOnce(id, visit.clientId, present, visit.actor);
    visit.goOn(reply, `/portal/endpoints/${id}`, 'secret_rotated');
  }

  @Get('delete')
  @PortalPage()
  async confirmDeletion(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { url } = await this.endpoints.get(id, visit.clientId);
    const html = deleteEndpointPage({
      frame: visit.frame(),
      csrfToken: visit.tokenFor(`delete ${id}`),
      endpointUrl: url,
      action: `/portal/endpoints/${id}/delete`,
      back: `/portal/endpoints/${id}`,
    });
    visit.send(reply, html);
  }

  @Post('delete')
  @PortalPage()
  async delete(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @FormBody() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.endpoints.get(id, visit.clientId);
    visit.check(form, `delete ${id}`);
    await this.endpoints.delete(id, visit.clientId, visit.actor);
    visit.goOn(reply, '/portal', 'endpoint_deleted');
  }

  private async switch(
    id: string,
    enabled: boolean,
    visit: PortalVisit,
    form: Form,
    reply: FastifyReply,
  ): Promise<void> {
    await this.endpoints.get(id, visit.clientId);
    visit.check(form, `${enabled ? 'enable' : 'disable'} ${id}`);
    await this.endpoints.update(id, visit.clientId, { enabled }, visit.actor);
    visit.goOn(reply, `/portal/endpoints/${id}`, enabled ? 'endpoint_enabled' : 'endpoint_disabled');
  }

  private async sendPage(
    endpoint: EndpointEntity,
    visit: PortalVisit,
    reply: FastifyReply,
    { range, secret }: { range: ChartRange; secret?: string },
  ): Promise<void> {
    const { id, enabled } = endpoint;
    const now = new Date();
    const [hours, newest] = await Promise.all([
      this.endpoints.hours(id, rangeStart(range, now)),
      this.deliveries.list({ clientId: visit.clientId, endpointId: id }, { size: NEWEST }),
    ]);
    const html = endpointPage({
      frame: visit.frame(),
      endpoint,
      secret,
      range,
      buckets: bucketsOf(hours, range, now),
      deliveries: newest.items,
      revealToken: visit.tokenFor(`reveal ${id}`),
      switchToken: visit.tokenFor(`${enabled ? 'disable' : 'enable'} ${id}`),
    });
    visit.send(reply, html);
  }
}

import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FormBody } from '../http/form-body.decorator.js';
import { queryStringOf, type Form } from '../http/form.js';
import { DeliveriesService } from '../webhooks/deliveries/deliveries.service.js';
import { ENDPOINTS_PER_CLIENT, EndpointsService } from '../webhooks/endpoints/endpoints.service.js';
import { EventTypesService } from '../webhooks/event-types/event-types.service.js';
import { readDeliveryQuery } from './delivery-query.js';
import { deliveriesPage } from './pages/deliveries.page.js';
import { deliveryPage } from './pages/delivery.page.js';
import { PortalPage, Visit } from './portal-page.decorator.js';
import type { PortalVisit } from './portal-visit.js';

/** What was sent, and how to send it again (contract §11.4). Another client's delivery is a 404 page. */
@Controller('portal/deliveries')
export class PortalDeliveriesController {
  constructor(
    private readonly deliveries: DeliveriesService,
    private readonly endpoints: EndpointsService,
    private readonly eventTypes: EventTypesService,
  ) {}

  /** Newest first; `state`, `endpoint`, `type`, `from` and `to` (UTC) narrow the list. */
  @Get()
  @PortalPage()
  async list(
    @Req() request: FastifyRequest,
    @Visit() visit: PortalVisit,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const query = readDeliveryQuery(queryStringOf(request.url));
    const isUsable = Object.keys(query.errors).length === 0;
    const [endpoints, types, deliveries] = await Promise.all([
      this.endpoints.list(visit.clientId, { size: ENDPOINTS_PER_CLIENT }),
      this.eventTypes.listFor(visit.visitor.scopes),
      isUsable ? this.deliveries.list({ ...query.filter, clientId: visit.clientId }, query.page) : undefined,
    ]);
    const html = deliveriesPage({
      frame: visit.frame(),
      query,
      endpoints: endpoints.items,
      typeNames: types.map(({ name }) => name),
      deliveries,
    });
    visit.send(reply, html, isUsable ? 200 : 400);
  }

  @Get(':id')
  @PortalPage()
  async show(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const delivery = await this.deliveries.get(id, visit.clientId);
    const html = deliveryPage({
      frame: visit.frame(),
      delivery,
      resendToken: visit.tokenFor(`resend ${id}`),
      now: new Date(),
    });
    visit.send(reply, html);
  }

  /** Sends it again under the same id; a 409 page while an attempt is under way, and for a deleted endpoint. */
  @Post(':id/resend')
  @PortalPage()
  async resend(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @FormBody() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.deliveries.get(id, visit.clientId);
    visit.check(form, `resend ${id}`);
    await this.deliveries.resend(id, visit.clientId, visit.actor);
    visit.goOn(reply, `/portal/deliveries/${id}`, 'resent');
  }
}

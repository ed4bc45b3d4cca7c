import { Controller, Get, Param, Post, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { FormBody } from '../http/form-body.decorator.js';
import { queryStringOf, type Form } from '../http/form.js';
import { RateLimitsService } from '../rate-limits/rate-limits.service.js';
import { DeliveriesService } from '../webhooks/deliveries/deliveries.service.js';
import { ENDPOINTS_PER_CLIENT, EndpointsService } from '../webhooks/endpoints/endpoints.service.js';
import { EventTypesService } from '../webhooks/event-types/event-types.service.js';
import { placeInList, readDeliveryQuery, withQuery } from './delivery-query.js';
import { deliveriesPage } from './pages/deliveries.page.js';
import { deliveryPage } from './pages/delivery.page.js';
import { PortalPage, Visit } from './portal-page.decorator.js';
import type { PortalVisit } from './portal-visit.js';

/** Viewing and resending deliveries (contract §11.4). Another client's delivery is a 404 page. */
@Controller('portal/deliveries')
export class PortalDeliveriesController {
  constructor(
    private readonly deliveries: DeliveriesService,
    private readonly endpoints: EndpointsService,
    private readonly eventTypes: EventTypesService,
    private readonly limits: RateLimitsService,
  ) {}

  /** Newest first; `state`, `endpoint`, `type`, `from` and `to` (UTC) filter the list. */
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

  /** Passes along the query of the list that the user came from, for the way back. */
  @Get(':id')
  @PortalPage()
  async show(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Visit() visit: PortalVisit,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const delivery = await this.deliveries.get(id, visit.clientId);
    const html = deliveryPage({
      frame: visit.frame(),
      delivery,
      resendToken: visit.tokenFor(`resend ${id}`),
      place: placeInList(queryStringOf(request.url)),
      now: new Date(),
    });
    visit.send(reply, html);
  }

  /** Resends it under the same id; a 409 page while an attempt is running, and for a deleted endpoint; 429 over the limit. */
  @Post(':id/resend')
  @PortalPage()
  async resend(
    @Param('id') id: string,
    @Req() request: FastifyRequest,
    @Visit() visit: PortalVisit,
    @FormBody() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.deliveries.get(id, visit.clientId);
    visit.check(form, `resend ${id}`);
    const place = placeInList(queryStringOf(request.url));
    await this.limits.countPortalSending(visit.clientId);
    await this.deliveries.resend(id, visit.clientId, visit.actor);
    visit.goOn(reply, withQuery(`/portal/deliveries/${id}`, place), 'resent');
  }
}

import { Param } from '@nestjs/common';
import { queryStringOf } from '../http/forms/form.js';
import { Context } from '../http/page-routes/page-context.js';
import { RateLimitsService } from '../rate-limits/rate-limits.service.js';
import { DeliveriesService } from '../webhooks/deliveries/deliveries.service.js';
import { ENDPOINTS_PER_CLIENT, EndpointsService } from '../webhooks/endpoints/endpoints.service.js';
import { EventTypesService } from '../webhooks/event-types/event-types.service.js';
import { placeInList, readDeliveryQuery, withQuery } from './delivery-query.js';
import { deliveriesPage } from './pages/deliveries.page.js';
import { deliveryPage } from './pages/delivery.page.js';
import type { PortalAnswer, PortalContext } from './portal-context.js';
import { PortalGet, PortalPages, PortalPost } from './portal-pages.decorator.js';

/** Viewing and resending deliveries (contract §11.4). Another client's delivery is a 404 page. */
@PortalPages('deliveries')
export class PortalDeliveriesController {
  constructor(
    private readonly deliveries: DeliveriesService,
    private readonly endpoints: EndpointsService,
    private readonly eventTypes: EventTypesService,
    private readonly limits: RateLimitsService,
  ) {}

  /** Newest first; `state`, `endpoint`, `type`, `from` and `to` (UTC) filter the list. */
  @PortalGet('', 'viewer')
  async list(@Context() context: PortalContext): Promise<PortalAnswer> {
    const query = readDeliveryQuery(queryStringOf(context.url));
    const isUsable = Object.keys(query.errors).length === 0;
    const { clientId } = context;
    const [endpoints, types, deliveries] = await Promise.all([
      this.endpoints.list(clientId, { size: ENDPOINTS_PER_CLIENT }),
      this.eventTypes.listFor(context.visitor.scopes),
      isUsable ? this.deliveries.list({ ...query.filter, clientId }, query.page) : undefined,
    ]);
    const page = deliveriesPage({
      query,
      endpoints: endpoints.items,
      typeNames: types.map(({ name }) => name),
      deliveries,
    });
    return { page, status: isUsable ? 200 : 400 };
  }

  /** Passes along the query of the list that the user came from, for the way back. */
  @PortalGet(':id', 'viewer')
  async show(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const delivery = await this.deliveries.get(id, context.clientId);
    const place = placeInList(queryStringOf(context.url));
    return { page: deliveryPage({ delivery, place, now: new Date() }) };
  }

  /** Resends it under the same id; a 409 page while an attempt is running, and for a deleted endpoint; 429 over the limit. */
  @PortalPost(':id/resend', 'a delivery', 'developer')
  async resend(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const place = placeInList(queryStringOf(context.url));
    await this.limits.countPortalSending(context.clientId);
    await this.deliveries.resend(id, context.clientId, context.actor);
    return { goTo: withQuery(`/portal/deliveries/${id}`, place), notice: 'resent' };
  }
}

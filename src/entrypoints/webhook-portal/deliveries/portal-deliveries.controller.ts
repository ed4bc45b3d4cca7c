import { Param } from '@nestjs/common';
import { eachOfList } from '#platform/database/queries/read-page.js';
import { queryStringOf } from '#platform/http/forms/form.js';
import { csvOf } from '#platform/http/page-routes/csv-answer.js';
import { ReadsMuch } from '#platform/http/page-routes/large-reads.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { RateLimitsService } from '#access/rate-limits/rate-limits.service.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { DELIVERY_CSV } from '#events/webhooks/deliveries/delivery-csv.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { RecoveriesService, SELECTED_MAX } from '#events/webhooks/deliveries/recoveries.service.js';
import { ENDPOINTS_PER_CLIENT, EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { EventTypesService } from '#events/webhooks/event-types/event-types.service.js';
import { placeInList, readDeliveryQuery, withQuery } from './delivery-query.js';
import { deliveriesListPage, deliveriesPage, ONLY_LIST } from './deliveries.page.js';
import { deliveryPage } from './delivery.page.js';
import { resendMatchingPage } from './resend-matching.page.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages, PortalPost } from '../frame/portal-pages.decorator.js';

// The page was made by this instance or by another one, whose clock may be ahead.
const CLOCKS_DIFFER_MS = 60_000;

/** Viewing and resending deliveries (contract §11.4). Another client's delivery is a 404 page. */
@PortalPages('deliveries')
export class PortalDeliveriesController {
  constructor(
    private readonly deliveries: DeliveriesService,
    private readonly recoveries: RecoveriesService,
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
    if (isUsable && context.query.get(ONLY_LIST.name) === ONLY_LIST.value) {
      const deliveries = await this.deliveries.list({ ...query.filter, clientId }, query.page);
      return { page: deliveriesListPage({ query, deliveries }) };
    }
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

  /** The filtered list as a file; if the filter is invalid, the page with its errors. */
  @PortalGet('csv', 'viewer')
  @ReadsMuch()
  async download(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { filter, errors } = readDeliveryQuery(queryStringOf(context.url));
    if (Object.keys(errors).length > 0) return this.list(context);
    const { clientId } = context;
    const items = await eachOfList((page) => this.deliveries.list({ ...filter, clientId }, page));
    return csvOf('deliveries.csv', DELIVERY_CSV, items);
  }

  /** How many matches would be resent, and the button. */
  @PortalGet('matching', 'developer')
  @ReadsMuch()
  async countMatching(@Context() context: PortalContext): Promise<PortalAnswer> {
    const query = readDeliveryQuery(queryStringOf(context.url));
    if (Object.keys(query.errors).length > 0) return this.list(context);
    const until = new Date();
    const count = await this.recoveries.countMatching(context.clientId, query.filter);
    return { page: resendMatchingPage({ query, count, until }) };
  }

  /** Resends what matched when it was counted; a 429 page over the limit. */
  @PortalPost('matching', 'nothing', 'developer')
  @ReadsMuch()
  async resendMatching(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { form, clientId, actor } = context;
    const { filter, errors } = readDeliveryQuery(form.source);
    const written = form.get('until') ?? '';
    const until = new Date(written);
    // As the page wrote it. A time of long before cannot be stored.
    const isPast =
      !Number.isNaN(until.getTime()) &&
      until.toISOString() === written &&
      until.getTime() >= 0 &&
      until.getTime() <= Date.now() + CLOCKS_DIFFER_MS;
    if (Object.keys(errors).length > 0 || !isPast) {
      throw badRequest('The form is incomplete. Go back, reload the page and try again.');
    }
    await this.limits.countPortalRecovery(context.client);
    const id = await this.recoveries.resendMatching(clientId, filter, until, actor);
    return { goTo: `/portal/recoveries/${id}` };
  }

  /** Resends the chosen ones, at most 100; a 429 page over the limit. */
  @PortalPost('selected', 'nothing', 'developer')
  async resendSelected(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { form, clientId, actor } = context;
    const ids = form.getAll('delivery');
    if (ids.length === 0 || ids.length > SELECTED_MAX) {
      throw badRequest(
        `Choose 1 to ${SELECTED_MAX} deliveries with the boxes in the list. Nothing was resent.`,
      );
    }
    await this.limits.countPortalRecovery(context.client);
    const id = await this.recoveries.resendSelected(clientId, ids, actor);
    return { goTo: `/portal/recoveries/${id}` };
  }

  /** Passes on the query of the list that the user came from, for the link back. */
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
    await this.limits.countPortalSending(context.client);
    await this.deliveries.resend(id, context.clientId, context.actor);
    return { goTo: withQuery(`/portal/deliveries/${id}`, place), notice: 'resent' };
  }
}

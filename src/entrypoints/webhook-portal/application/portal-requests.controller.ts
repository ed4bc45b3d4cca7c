import { Param, Query } from '@nestjs/common';
import { REFUSALS } from '#records/activity/activity.js';
import { ActivityService } from '#records/activity/activity.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { DAY_MS } from '#platform/config/durations.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { notFound } from '#platform/http/problems/problem.js';
import { KnownRequests } from '#events/partners/request-log/known-requests.service.js';
import { requestListQuery } from '#events/partners/request-log/request-filter.js';
import { RequestLogService } from '#events/partners/request-log/request-log.service.js';
import { RateLimitsService } from '#access/rate-limits/rate-limits.service.js';
import { rangeIn, RANGES, rangeStart } from '#platform/web/charts/ranges.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { explainedRequestPage } from './explained-request.page.js';
import { refusalsPage } from './refusals.page.js';
import { requestsPage } from './requests.page.js';
import { usageBuckets, usagePage } from './usage.page.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages } from '../frame/portal-pages.decorator.js';

const DELIVERIES_LISTED = { size: 10 };

/** The client's requests (contract §20): the last ones, why some were refused, and how many there were. */
@PortalPages()
export class PortalRequestsController {
  constructor(
    private readonly log: RequestLogService,
    private readonly known: KnownRequests,
    private readonly deliveries: DeliveriesService,
    private readonly activity: ActivityService,
    private readonly clients: ClientsService,
    private readonly limits: RateLimitsService,
  ) {}

  /** Newest first; `status` and `request_id` filter. */
  @PortalGet('requests', 'viewer')
  async list(@Context() context: PortalContext): Promise<PortalAnswer> {
    const query = requestListQuery(context.query);
    return { page: requestsPage(await this.log.list(context.clientId, query.filter), query) };
  }

  /** Why it was refused, and what it caused; a 404 page for requests of others, as for unknown ids. */
  @PortalGet('requests/:request_id', 'viewer')
  async explain(
    @Context() { clientId }: PortalContext,
    @Param('request_id') id: string,
  ): Promise<PortalAnswer> {
    const requests = await this.known.withId(id, clientId);
    const [latest] = requests;
    if (!latest) {
      throw notFound(
        'There is no record of a request of this client with this ID. Refused requests are kept for seven days, the last 200, and some of the others.',
      );
    }
    const [around, deliveries] = await Promise.all([
      this.known.around(latest),
      this.deliveries.list({ requestId: id, clientId }, DELIVERIES_LISTED),
    ]);
    return { page: explainedRequestPage({ requests, around, deliveries: deliveries.items }) };
  }

  /** Latest first, including what this instance has just counted. */
  @PortalGet('refusals', 'viewer')
  async refusals(@Context() { clientId }: PortalContext): Promise<PortalAnswer> {
    await this.activity.flush();
    const since = new Date(Date.now() - 7 * DAY_MS);
    return { page: refusalsPage(await this.activity.ofClient(clientId, REFUSALS, since)) };
  }

  /** `?range=7d` shows days instead of hours. */
  @PortalGet('usage', 'viewer')
  async usage(@Context() { clientId }: PortalContext, @Query('range') given: unknown): Promise<PortalAnswer> {
    const range = rangeIn(given);
    const now = new Date();
    await this.log.flush();
    await this.activity.flush();
    const [hours, client] = await Promise.all([
      this.activity.hoursOf(clientId, ['request', 'rate_limited'], rangeStart(RANGES[range], now)),
      this.clients.get(clientId),
    ]);
    const limit = await this.limits.stateOfPartner(client);
    return { page: usagePage({ range, buckets: usageBuckets(hours, range, now), ...limit }) };
  }
}

import { Query } from '@nestjs/common';
import { REFUSALS } from '../../activity/activity.js';
import { ActivityService } from '../../activity/activity.service.js';
import { ClientsService } from '../../clients/clients.service.js';
import { DAY_MS } from '../../config/durations.js';
import { Context } from '../../http/page-routes/page-context.js';
import { requestFilterOf } from '../../partners/request-log/request-filter.js';
import { RequestLogService } from '../../partners/request-log/request-log.service.js';
import { RateLimitsService } from '../../rate-limits/rate-limits.service.js';
import { rangeIn, RANGES } from '../../web/charts/ranges.js';
import { rangeStart } from '../../web/charts/time-buckets.js';
import { refusalsPage } from './refusals.page.js';
import { requestsPage } from './requests.page.js';
import { usageBuckets, usagePage } from './usage.page.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages } from '../frame/portal-pages.decorator.js';

/** What became of the client's requests (contract §20): the last ones, why some were refused, and how many there were. */
@PortalPages()
export class PortalRequestsController {
  constructor(
    private readonly log: RequestLogService,
    private readonly activity: ActivityService,
    private readonly clients: ClientsService,
    private readonly limits: RateLimitsService,
  ) {}

  /** Newest first; `status` and `request_id` filter. */
  @PortalGet('requests', 'viewer')
  async list(
    @Context() { clientId }: PortalContext,
    @Query('status') status: unknown,
    @Query('request_id') requestId: unknown,
  ): Promise<PortalAnswer> {
    const { typed, filter } = requestFilterOf(status, requestId);
    return { page: requestsPage(await this.log.list(clientId, filter), typed) };
  }

  /** Latest first, including what this instance has only just counted. */
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

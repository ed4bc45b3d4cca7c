import { Query } from '@nestjs/common';
import { DAY_MS } from '#platform/config/durations.js';
import { rangeIn } from '#platform/web/charts/ranges.js';
import { EVERYBODY } from '#records/activity/activity.js';
import { ActivityService } from '#records/activity/activity.service.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import type { ConsoleAnswer } from '../console-context.js';
import { ConsolePages, ConsoleGet } from '../console-pages.decorator.js';
import { OverviewAlerts } from './overview-alerts.js';
import { overviewPage } from './overview.page.js';
import { firstHour, seriesOf } from './series.js';

const LISTED = 10;

/** The front page of the console: whether everything is fine. */
@ConsolePages()
export class ConsoleOverviewController {
  constructor(
    private readonly activity: ActivityService,
    private readonly deliveries: DeliveriesService,
    private readonly endpoints: EndpointsService,
    private readonly alerts: OverviewAlerts,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async show(@Query('range') range: unknown): Promise<ConsoleAnswer> {
    const now = new Date();
    const since = firstHour(now);
    const weekAgo = new Date(now.getTime() - 7 * DAY_MS);
    await this.activity.flush();
    const [
      activity,
      attempts,
      waiting,
      disabled,
      disabledByService,
      nearLimit,
      refused,
      moreAlerts,
      refusedLogins,
    ] = await Promise.all([
      this.activity.hoursOfAll(since),
      this.endpoints.hoursOfAll(since),
      this.deliveries.waiting(),
      this.endpoints.listAll({ isDisabled: true, environment: 'live' }, { size: LISTED }),
      this.endpoints.listAll({ isDisabledByService: true, environment: 'live' }, { size: LISTED }),
      this.activity.nearLimit(LISTED),
      this.activity.mostRefused(LISTED),
      this.alerts.find(),
      this.activity.ofClient(EVERYBODY, ['sign_in_refused'], weekAgo),
    ]);
    const series = seriesOf(activity, attempts, now);
    const situation = { series, waiting, disabledByService, nearLimit, moreAlerts };
    return { page: overviewPage({ ...situation, range: rangeIn(range), disabled, refused, refusedLogins }) };
  }
}

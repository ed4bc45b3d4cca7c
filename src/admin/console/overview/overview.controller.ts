import { ActivityService } from '../../../activity/activity.service.js';
import { DeliveriesService } from '../../../webhooks/deliveries/deliveries.service.js';
import { EndpointsService } from '../../../webhooks/endpoints/endpoints.service.js';
import { ConsolePages, Shows, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { overviewPage } from './overview.page.js';
import { seriesOf, weekBefore } from './series.js';

/** More than this is not counted out. */
const WAITING_UP_TO = 10_001;
const LISTED = 10;

/** The console's front page: is all well? */
@ConsolePages()
export class ConsoleOverviewController {
  constructor(
    private readonly activity: ActivityService,
    private readonly deliveries: DeliveriesService,
    private readonly endpoints: EndpointsService,
  ) {}

  @Shows()
  async show(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    const now = new Date();
    const since = weekBefore(now);
    const [activity, attempts, waiting, disabled, nearLimit] = await Promise.all([
      this.activity.hoursOfAll(since),
      this.endpoints.hoursOfAll(since),
      this.deliveries.waiting(WAITING_UP_TO),
      this.endpoints.listAll({ isDisabled: true }, { size: LISTED }),
      this.activity.nearLimit(LISTED),
    ]);
    const series = seriesOf(activity, attempts, now);
    const html = overviewPage({
      frame: visit.frame,
      now,
      series,
      waiting: { ...waiting, limit: WAITING_UP_TO },
      disabled,
      nearLimit,
    });
    return { html };
  }
}

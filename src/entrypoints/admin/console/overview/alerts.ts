import type { RefusedClient } from '#records/activity/activity.js';
import type { Page } from '#platform/database/queries/read-page.js';
import type { EndpointInList } from '#events/webhooks/endpoints/endpoint-health.js';
import { DELIVERIES_PATH, ENDPOINTS_PATH } from '../pages/resource-link.js';
import type { Series } from './series.js';

/** An alert on the front page, with a link. */
export interface Alert {
  text: string;
  href: string;
  link: string;
}

export interface Situation {
  series: Series[];
  waiting: { oldestSeconds: number };
  disabledByService: Page<EndpointInList>;
  nearLimit: RefusedClient[];
}

/** With fewer than this in the last two hours, a share means nothing. */
const ENOUGH = 20;
const BAD_SHARE = 0.5;

/** Due deliveries are sent within seconds; if they wait longer than this, something is wrong. As in deploy/prometheus/alerts.yml. */
const OVERDUE_SECONDS = 120;

/** What is wrong, most urgent first. */
export function alertsOf({ series, waiting, disabledByService, nearLimit }: Situation): Alert[] {
  const recent = (label: string): number =>
    (series.find((each) => each.label === label)?.hours ?? [])
      .slice(-2)
      .reduce((sum, { count }) => sum + count, 0);
  const mostlyBad = (good: string, bad: string): boolean =>
    recent(bad) >= ENOUGH && recent(bad) / (recent(good) + recent(bad)) > BAD_SHARE;
  const { items: byService, hasNext } = disabledByService;
  const heldBack = nearLimit.filter(({ refused }) => refused > 0);
  return [
    ...(waiting.oldestSeconds > OVERDUE_SECONDS
      ? [
          {
            text: 'Overdue deliveries are not being sent.',
            href: `${DELIVERIES_PATH}?state=pending`,
            link: 'View pending deliveries',
          },
        ]
      : []),
    ...(mostlyBad('Successful deliveries', 'Failed delivery attempts')
      ? [
          {
            text: 'More than half of the delivery attempts in the last two hours failed.',
            href: ENDPOINTS_PATH,
            link: 'View endpoints',
          },
        ]
      : []),
    ...(mostlyBad('Tokens issued', 'Requests refused')
      ? [
          {
            text: 'More requests were refused than tokens were issued in the last two hours.',
            href: '/admin/console/clients',
            link: 'View clients',
          },
        ]
      : []),
    ...(byService.length > 0
      ? [
          {
            text:
              byService.length === 1
                ? 'The service disabled an endpoint.'
                : `The service disabled ${byService.length} endpoints${hasNext ? ' or more' : ''}.`,
            href: `${ENDPOINTS_PATH}?state=disabled`,
            link: 'View disabled endpoints',
          },
        ]
      : []),
    ...(heldBack.length > 0
      ? [
          {
            text:
              heldBack.length === 1
                ? 'A client is over its rate limit:'
                : `${heldBack.length} clients are over their rate limits, such as`,
            href: `/admin/console/clients/${heldBack[0]!.id}/refusals`,
            link: heldBack[0]!.name,
          },
        ]
      : []),
  ];
}

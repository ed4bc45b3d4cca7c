import type { ClientNearLimit } from '../../../activity/activity.repository.js';
import type { Page } from '../../../http/paging.js';
import type { EndpointInList } from '../../../webhooks/endpoints/endpoints.repository.js';
import { DELIVERIES_PATH, ENDPOINTS_PATH } from '../webhooks/endpoint-paths.js';
import type { Series } from './series.js';

/** What an operator should look at, and where. */
export interface Concern {
  words: string;
  href: string;
  link: string;
}

export interface Situation {
  series: Series[];
  waiting: { oldestSeconds: number };
  disabled: Page<EndpointInList>;
  nearLimit: ClientNearLimit[];
}

/** Below this many in the last two hours, a share says nothing. */
const ENOUGH = 20;
const BAD_SHARE = 0.5;

/** What is due goes out within seconds; later than this, something holds it up. */
const OVERDUE_SECONDS = 300;

/** What is not well, the most urgent first. */
export function concernsOf({ series, waiting, disabled, nearLimit }: Situation): Concern[] {
  const recent = (label: string): number =>
    (series.find((each) => each.label === label)?.hours ?? [])
      .slice(-2)
      .reduce((sum, { count }) => sum + count, 0);
  const mostlyBad = (good: string, bad: string): boolean =>
    recent(bad) >= ENOUGH && recent(bad) / (recent(good) + recent(bad)) > BAD_SHARE;
  const byService = disabled.items.filter(({ disabledReason }) => disabledReason !== null);
  const heldBack = nearLimit.filter(({ refused }) => refused > 0);
  return [
    ...(waiting.oldestSeconds > OVERDUE_SECONDS
      ? [
          {
            words: 'Deliveries that are due do not go out.',
            href: `${DELIVERIES_PATH}?state=pending`,
            link: 'See what waits',
          },
        ]
      : []),
    ...(mostlyBad('Deliveries made', 'Delivery attempts failed')
      ? [
          {
            words: 'More than half of the delivery attempts of the last hours failed.',
            href: `${DELIVERIES_PATH}?state=pending`,
            link: 'See what waits',
          },
        ]
      : []),
    ...(mostlyBad('Tokens issued', 'Requests refused')
      ? [
          {
            words: 'More requests were refused than tokens issued in the last hours.',
            href: '/admin/console/clients',
            link: 'Look at a client’s refusals',
          },
        ]
      : []),
    ...(byService.length > 0
      ? [
          {
            words:
              byService.length === 1
                ? 'The service disabled an endpoint.'
                : `The service disabled ${byService.length} endpoints${disabled.hasNext ? ' or more' : ''}.`,
            href: `${ENDPOINTS_PATH}?state=disabled`,
            link: 'See which',
          },
        ]
      : []),
    ...(heldBack.length > 0
      ? [
          {
            words:
              heldBack.length === 1
                ? 'A client is held back by its limit:'
                : `${heldBack.length} clients are held back by their limits, such as`,
            href: `/admin/console/clients/${heldBack[0]!.id}/refusals`,
            link: heldBack[0]!.name,
          },
        ]
      : []),
  ];
}

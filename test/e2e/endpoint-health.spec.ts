import type { EndpointEntity } from '../../src/webhooks/endpoints/endpoint.entity.js';
import type { BrowserSession } from '../support/browser-session.js';
import { madeOnce } from '../support/made.js';
import { enterPortal, makeEndpoint } from '../support/portal.js';
import { useSharedService } from '../support/test-service.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';

/* Portal and console describe the health of an endpoint alike. */
describe('An endpoint', () => {
  const service = useSharedService({ env: WEBHOOK_ENV });
  let portal: BrowserSession;
  let endpoint: EndpointEntity;

  const console = madeOnce(() => service.make.signedInNew({ role: 'operator' }));
  beforeAll(async () => {
    const client = await service.make.client();
    portal = await enterPortal(service, client);
    endpoint = await makeEndpoint(service, client);
  });

  it.each([
    ['healthy', { enabled: true }, 'Enabled', 'badge-good', ''],
    ['failing since its last success', { enabled: true, failing: true }, 'Failing', 'badge-warn', ''],
    ['disabled by a person', { enabled: false }, 'Disabled', 'badge-plain', ''],
    [
      'disabled after a 410',
      { enabled: false, reason: 'gone' },
      'Disabled by the service',
      'badge-bad',
      ': it responded with “410 Gone”',
    ],
    [
      'disabled after five days of failures',
      { enabled: false, failing: true, reason: 'failing' },
      'Disabled by the service',
      'badge-bad',
      ': it accepted no events for five days',
    ],
  ] as [string, { enabled: boolean; failing?: boolean; reason?: string }, string, string, string][])(
    'has the same label in the portal and in the console: %s',
    async (_what, { enabled, failing = false, reason }, label, badge, why) => {
      await service.database.query(
        `UPDATE webhook_endpoints
            SET enabled = $2, disabled_reason = $3, disabled_at = CASE WHEN NOT $2 THEN now() END,
                failing_since = CASE WHEN $4 THEN now() - interval '1 hour' END
          WHERE id = $1`,
        [endpoint.id, enabled, reason ?? null, failing],
      );
      const labels = [
        [portal, '/portal', label],
        [portal, `/portal/endpoints/${endpoint.id}`, label],
        [console, '/admin/console/endpoints', label + why],
        [console, `/admin/console/endpoints/${endpoint.id}`, label + why],
      ] as const;
      for (const [browser, path, text] of labels) {
        const shown = (await browser.open(path)).html.querySelector('main .badge')!;
        expect([path, shown.text, shown.classList.contains(badge)]).toEqual([path, text, true]);
      }
    },
  );
});

import type { Page } from 'playwright-core';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { SandboxFaultsService } from '#access/sandbox-faults/sandbox-faults.service.js';
import { sandboxOf } from '#events/sandbox/driver.js';
import { PlansService } from '#events/sandbox/plans.service.js';
import { DriversService } from '#events/sandbox/drivers.service.js';
import { newId } from '#platform/secrets/ids.js';
import { insertContact } from '../support/contacts.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { enterPortal, makeEndpoint, seedDelivery, type SeededDelivery } from '../support/portal.js';
import type { TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import type { Cast, PageOpener } from './every-page.js';
import { MEMBER_PAGES } from './portal-member-pages.js';

type Prepared = { endpoint: EndpointEntity; id?: string };

/** Signs the browser in to the client's portal. */
async function enter(page: Page, service: TestService, { client }: Cast): Promise<void> {
  const value = (await enterPortal(service, client)).cookies.get('cds_portal_session')!;
  await page.context().addCookies([{ name: 'cds_portal_session', value, url: service.url }]);
}

const ANSWER = `<h1>Internal error</h1>${' the-stack-of-a-server-that-has-no-place-to-break'.repeat(4)}`;
const LONG_URL = `http://127.0.0.1:9/${'a-path-without-an-end/'.repeat(100)}`.slice(0, 2000);

/** An endpoint with names as long as those of the cast. */
const endpointOf = async (service: TestService, { client, owner }: Cast): Promise<EndpointEntity> =>
  makeEndpoint(service, client, {
    ...(owner.name.length > 100
      ? { url: LONG_URL, description: owner.name }
      : { description: 'Fleet back office' }),
    eventTypes: [
      'charging_session.created',
      'charging_session.ended',
      'user.consent_revoked',
      'vehicle.updated',
    ],
  });

/** Attempts of the last days, for the charts. */
async function addHours({ database }: TestService, { id }: EndpointEntity): Promise<void> {
  await database.query(
    `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
     SELECT $1, date_trunc('hour', now()) - make_interval(hours => n), 40 + (n * 7) % 23, (n * 5) % 11, 30000 + n * 900,
            2000 + (n * 397) % 5000
       FROM generate_series(0, 100) n WHERE n % 9 <> 4`,
    [id],
  );
}

const FAILED: SeededDelivery = {
  state: 'failed',
  attempts: [
    { failure: 'timeout', durationMs: 15_000, detail: 'There was no response within 15 s.' },
    { failure: 'tls', durationMs: 80, detail: 'The certificate has expired.' },
    { status: 500, durationMs: 340, responseStart: ANSWER },
  ],
};
const EVERY_STATE: SeededDelivery[] = [
  { state: 'delivered', attempts: [{ status: 204 }], type: 'charging_session.created' },
  { state: 'pending', attempts: [{ failure: 'dns', detail: 'The name of the host was not found.' }] },
  { state: 'cancelled', cancelReason: 'consent_withdrawn' },
  {
    state: 'delivered',
    attempts: [{ status: 200, responseStart: 'ok' }],
    type: 'webhook.test',
    isTest: true,
  },
  FAILED,
];

async function seedAll(service: TestService, cast: Cast): Promise<Prepared> {
  const endpoint = await endpointOf(service, cast);
  await addHours(service, endpoint);
  let id = '';
  for (const delivery of EVERY_STATE) id = await seedDelivery(service, endpoint, delivery);
  return { endpoint, id };
}

/** An endpoint that was disabled for a while, with headers as long as they may be. */
async function seedOptions(service: TestService, cast: Cast): Promise<Prepared> {
  const prepared = await seedAll(service, cast);
  const { id } = prepared.endpoint;
  const headers = { authorization: `Bearer ${'t'.repeat(500)}`, ['x-'.repeat(32)]: 'northwind' };
  const endpoints = service.app.get(EndpointsService);
  await endpoints.update(id, undefined, { headers, maxPerMinute: 60, enabled: false }, SERVICE_ACTOR);
  await endpoints.update(id, undefined, { enabled: true }, SERVICE_ACTOR);
  return prepared;
}

const seedOne =
  (delivery: SeededDelivery) =>
  async (service: TestService, cast: Cast): Promise<Prepared> => {
    const endpoint = await endpointOf(service, cast);
    return { endpoint, id: await seedDelivery(service, endpoint, delivery) };
  };

/** Opens a page of the portal. */
const open =
  <T>(
    path: string | ((prepared: T) => string),
    prepare?: (service: TestService, cast: Cast) => Promise<T>,
    then?: (page: Page) => Promise<unknown>,
  ): PageOpener =>
  async (page, service, cast) => {
    const prepared = (await prepare?.(service, cast)) as T;
    await enter(page, service, cast);
    await page.goto(service.url + (typeof path === 'string' ? path : path(prepared)));
    await then?.(page);
  };

const sandboxClient = ({ make }: TestService, { client, owner }: Cast) =>
  make.client({ name: client.name, ownerId: owner.id, environment: 'sandbox' });

const press =
  (name: string) =>
  async (page: Page): Promise<void> => {
    await page.getByRole('button', { name, exact: true }).click();
    await page.waitForLoadState();
  };

const at =
  (path: string) =>
  ({ endpoint }: Prepared): string =>
    `/portal/endpoints/${endpoint.id}${path}`;
const delivery = ({ id }: Prepared): string => `/portal/deliveries/${id}`;

async function seedRecovery(service: TestService, cast: Cast): Promise<string> {
  const { endpoint } = await seedAll(service, cast);
  const id = newId('rcvr');
  await service.database.query(
    `INSERT INTO webhook_recoveries (id, client_id, endpoint_id, failed_from, failed_to, total)
     VALUES ($1, $2, $3, now() - interval '1 day', now(), 4)`,
    [id, cast.client.id, endpoint.id],
  );
  await service.database.query(
    `UPDATE deliveries SET recovery_id = $1 WHERE endpoint_id = $2 AND state <> 'pending'`,
    [id, endpoint.id],
  );
  return `/portal/recoveries/${id}`;
}

/** How to reach each page of the portal and each of its states. */
export const PORTAL_PAGES: Record<string, PageOpener> = {
  ...MEMBER_PAGES,
  'portal without contacts': async (page, service, cast) => {
    await enter(page, service, cast);
    await page.goto(`${service.url}/portal/contacts`);
  },
  'portal contacts, one refused': async (page, service, cast) => {
    await insertContact(service.database, cast.client.id, cast.driver.email, true);
    await insertContact(service.database, cast.client.id, `z${cast.driver.email}`);
    await enter(page, service, cast);
    await page.goto(`${service.url}/portal/contacts`);
    await page.getByLabel('Email').fill('nobody');
    await page.getByRole('button', { name: 'Add contact' }).click();
    await page.locator('[aria-invalid]').waitFor();
  },
  'portal without endpoints': open('/portal'),
  'portal with endpoints': open('/portal', async (service, cast) => {
    const { endpoint } = await seedAll(service, cast);
    await makeEndpoint(service, cast.client, { enabled: false });
    const gone = await makeEndpoint(service, cast.client);
    await service.database.query(
      `UPDATE webhook_endpoints SET enabled = false, disabled_at = now(), disabled_reason = 'gone' WHERE id = $1`,
      [gone.id],
    );
    await service.database.query('UPDATE webhook_endpoints SET last_attempt_at = now() WHERE id = $1', [
      endpoint.id,
    ]);
  }),
  'portal with 50 endpoints': open('/portal', async ({ database }, { client }) => {
    await database.query(
      `INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
       SELECT 'endp' || lpad(n::text, 18, '0') || right($1, 8), $1, 'https://api.example.com/hooks/' || n, '{vehicle.updated}', ''
         FROM generate_series(1, 50) n`,
      [client.id],
    );
  }),
  'add an endpoint': open('/portal/endpoints/new'),
  'add an endpoint, refused': open('/portal/endpoints/new', undefined, async (page) => {
    await page.getByLabel('URL').fill(`ftp://${'long-host-name.'.repeat(20)}example`);
    await page.getByLabel('Description').fill('x'.repeat(201));
    await press('Save')(page);
    await page.getByRole('alert').waitFor();
  }),
  'add an endpoint with batches, refused': open('/portal/endpoints/new', undefined, async (page) => {
    await page.getByText('Advanced').click();
    await page.getByLabel('Batch size').fill('many');
    await page.getByLabel('Batch wait').fill('9999999');
    await press('Save')(page);
    await page.getByRole('alert').waitFor();
  }),
  'edit an endpoint': open(at('/edit'), seedAll),
  'an endpoint': open(at(''), seedAll, async (page) => {
    await page.getByText('View as table').click();
  }),
  'an endpoint by the day': open(at('?range=7d'), seedAll),
  'an endpoint that is new': open(at(''), async (service, cast) => ({
    endpoint: await endpointOf(service, cast),
  })),
  'an endpoint disabled by the service': open(at(''), async (service, cast) => {
    const endpoint = await endpointOf(service, cast);
    await service.database.query(
      `UPDATE webhook_endpoints SET enabled = false, disabled_at = now(), disabled_reason = 'failing' WHERE id = $1`,
      [endpoint.id],
    );
    return { endpoint };
  }),
  'an endpoint with a limit, headers, and what it missed': open(at(''), seedOptions),
  'headers revealed': open(at(''), seedOptions, press('Reveal headers')),
  'a secret revealed': open(at(''), seedAll, press('Reveal secret')),
  'rotate a secret': open(at('/rotate'), seedAll),
  'rotate a key': open(at('/rotate-key'), seedAll),
  'a secret rotated': open(at('/rotate'), seedAll, press('Rotate secret')),
  'delete an endpoint': open(at('/delete'), seedAll),
  'test an endpoint': open(at('/test'), seedAll),
  deliveries: open('/portal/deliveries', seedAll),
  'no deliveries': open('/portal/deliveries'),
  'resend all that match': open('/portal/deliveries/matching?state=failed', seedAll),
  'deliveries, filter refused': open(
    '/portal/deliveries?from=yesterday&state=lost&to=2026-13-01T00:00',
    seedAll,
  ),
  'a delivery that failed': open(delivery, seedOne(FAILED)),
  'a delivery that arrived': open(delivery, seedOne(EVERY_STATE[0]!)),
  'a delivery in a batch': open(
    delivery,
    async (service, cast) => {
      const prepared = await seedAll(service, cast);
      await service.database.query(
        `UPDATE delivery_attempts SET batch_id = 'batch_' || repeat('0', 32), attempted_at = '2026-01-31T08:00:00Z'
          WHERE delivery_id IN (SELECT id FROM deliveries WHERE endpoint_id = $1) AND number = 1`,
        [prepared.endpoint.id],
      );
      return prepared;
    },
    (page) => page.getByText('In a batch of').click(),
  ),
  'a delivery that waits': open(delivery, seedOne(EVERY_STATE[1]!)),
  'a delivery under way': open(delivery, async (service, cast) => {
    const prepared = await seedOne(EVERY_STATE[1]!)(service, cast);
    await service.database.query(
      `UPDATE deliveries SET lease_id = 'held', next_attempt_at = now() + interval '30 seconds' WHERE id = $1`,
      [prepared.id],
    );
    return prepared;
  }),
  'a delivery cancelled': open(delivery, seedOne(EVERY_STATE[2]!)),
  'recover failed deliveries': open(at('/recover'), seedAll),
  'recover, times refused': open(at('/recover?from=x&to='), seedAll),
  'a recovery done': open((path: string) => path, seedRecovery),
  'a recovery under way': open(
    (path: string) => path,
    async (service, cast) => {
      const path = await seedRecovery(service, cast);
      await service.database.query('UPDATE deliveries SET recovery_id = $1 WHERE client_id = $2', [
        path.split('/').at(-1),
        cast.client.id,
      ]);
      return path;
    },
  ),
  'event catalogue': open('/portal/event_types'),
  'event catalogue, a type': open('/portal/event_types', undefined, async (page) => {
    await page.locator('main summary').first().click();
  }),
  'verify signatures without an endpoint': open('/portal/verify'),
  'verify signatures': open('/portal/verify', seedAll, async (page) => {
    await page.getByLabel('webhook-id').fill('dlvr1');
    await page.getByLabel('webhook-timestamp').fill('1');
    await page.getByLabel('webhook-signature').fill(`v1,${'A'.repeat(43)}=`);
    await page.getByLabel('Body').fill('{"type":"vehicle.updated"}');
    await press('Check')(page);
    await page.getByRole('status').waitFor();
  }),
  'sandbox without drivers': async (page, service, cast) => {
    await enter(page, service, { ...cast, client: await sandboxClient(service, cast) });
    await page.goto(`${service.url}/portal/sandbox`);
  },
  'sandbox with drivers, a form refused': async (page, service, cast) => {
    const client = await sandboxClient(service, cast);
    const drivers = service.app.get(DriversService);
    const sandbox = sandboxOf(client)!;
    await drivers.create(sandbox, { name: cast.driver.name }, SERVICE_ACTOR);
    const { id } = await drivers.create(sandbox, { name: cast.driver.name }, SERVICE_ACTOR);
    await drivers.consent(sandbox, id, undefined, SERVICE_ACTOR);
    const endpoint = await makeEndpoint(service, client);
    for (const state of ['delivered', 'pending'] as const) {
      await seedDelivery(service, endpoint, { state, userId: id, attempts: [{ status: 503 }] });
    }
    await service.app.get(PlansService).startSession(sandbox, id, 60, SERVICE_ACTOR);
    await until('it has begun', async () => {
      const events = await service.database.query(
        "SELECT FROM events WHERE user_id = $1 AND type LIKE 'charging_%'",
        [id],
      );
      return events.length > 0;
    });
    await enter(page, service, { ...cast, client });
    await service.app.get(SandboxFaultsService).set(client.id, '503', 7, SERVICE_ACTOR);
    await page.goto(`${service.url}/portal/sandbox`);
    await page.getByText('More', { exact: true }).click();
    await page.getByLabel('Days').fill('none');
    await press('Send past days')(page);
    await page.locator('[aria-invalid]').waitFor();
  },
  'portal, not found': open('/portal/endpoints/endp01HN2NJ9NMRZBXT1H6FT9N7735'),
};

import type { Page } from 'playwright-core';
import { sandboxOf } from '#events/sandbox/driver.js';
import { DriversService } from '#events/sandbox/drivers.service.js';
import { PLAIN_BRAND } from '#platform/config/brand-values.js';
import { withoutLogo } from '#platform/web/layout/brand.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import type { DemoGuide } from '../../demo/demo-guide.js';
import { demoPage } from '../../demo/pages/demo.page.js';
import { MAIL_ENV } from '../support/mail-server.js';
import { Receiver } from '../support/receiver.js';
import { enterPortal, makeEndpoint, seedDelivery, useService, WEBHOOK_ENV } from '../support/spec.js';
import { ACCOUNT_PAGES } from './account-pages.js';
import { sharedChromium } from './chromium.js';
import { CONSOLE_PAGES } from './console-pages.js';
import { newCast, type Cast, type PageOpener } from './every-page.js';
import { filledButtons } from './filled-buttons.js';
import { logIn, mainOf, said } from './page-actions.js';
import { PORTAL_PAGES } from './portal-pages.js';

const PHONE = { width: 390, height: 844 };
const SCREENS = 3;
/** The list of a page is full. */
const LISTED = 50;

const sandbox: PageOpener = async (page, service, { owner }) => {
  const client = await service.make.client({ ownerId: owner.id, environment: 'sandbox' });
  const drivers = service.app.get(DriversService);
  const { id } = await drivers.create(sandboxOf(client)!, { name: 'Robin' }, SERVICE_ACTOR);
  await drivers.consent(sandboxOf(client)!, id, undefined, SERVICE_ACTOR);
  const endpoint = await makeEndpoint(service, client);
  for (let n = 0; n < LISTED; n++) await seedDelivery(service, endpoint, { state: 'delivered', userId: id });
  const value = (await enterPortal(service, client)).cookies.get('cds_portal_session')!;
  await page.context().addCookies([{ name: 'cds_portal_session', value, url: service.url }]);
  await page.goto(`${service.url}/portal/sandbox`);
};

const auditLog: PageOpener = async (page, service, cast) => {
  await service.database.query(
    `INSERT INTO audit_events (actor_type, actor_id, action, subject_type, subject_id)
     SELECT 'user', $1, 'user.updated', 'user', $1 FROM generate_series(1, $2::int)`,
    [cast.driver.id, LISTED],
  );
  await CONSOLE_PAGES['console audit log']!(page, service, cast);
};

/** As much as the demonstration has; its route exists only there. */
const demonstration: PageOpener = async (page, service, { driver }) => {
  const many = <T>(count: number, each: T): T[] => Array.from({ length: count }, () => each);
  const guide: DemoGuide = {
    links: many(8, { name: 'Console', url: '/', note: 'as the operator' }),
    people: many(6, { who: 'Operator', email: driver.email, password: 'o_w9GBD6_SMkxRX3', note: 'admin' }),
    clients: many(4, { name: 'The same partner’s live client', id: driver.id, secret: 'x'.repeat(56) }),
    steps: many(12, {
      title: 'An end user’s consent',
      note: 'In a browser',
      commands: many(3, 'curl -s http://x'),
    }),
  };
  const body = renderPage(demoPage(guide), withoutLogo(PLAIN_BRAND));
  await page.route('**/demo', (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto(`${service.url}/demo`);
};

/* What is opened every day shows what it is for, and folds the rest. */
describe('On a phone, a page that is used every day', () => {
  const service = useService({ env: { ...MAIL_ENV, ...WEBHOOK_ENV } });
  let page: Page;
  beforeAll(async () => {
    page = await (await (await sharedChromium()).newContext({ viewport: PHONE })).newPage();
  });
  afterEach(async () => {
    await page.unrouteAll();
    await page.goto('about:blank');
    await page.context().clearCookies();
  });
  afterAll(() => page.context().close());

  it.each<[string, PageOpener]>([
    ['the audit log', auditLog],
    ['the overview of the console', CONSOLE_PAGES['console overview']!],
    ['the event types of the console', CONSOLE_PAGES['console event types']!],
    ['the sandbox', sandbox],
    ['the catalogue of events', PORTAL_PAGES['event catalogue']!],
    ['the data of a driver', ACCOUNT_PAGES['the data']!],
    ['the demonstration', demonstration],
  ])('is at most three screens high, and has at most one filled button: %s', async (_name, open) => {
    await open(
      page,
      service,
      await newCast(service, { driver: 'Ada', owner: 'Voltwise Ltd', client: 'Voltwise' }),
    );
    const height = await page.evaluate(() => document.documentElement.scrollHeight);
    const filled = await page.evaluate(filledButtons);
    const most = SCREENS * PHONE.height;
    expect({ height: Math.max(height, most), filled }).toEqual({ height: most, filled: filled.slice(0, 1) });
  });

  describe('on a desktop', () => {
    beforeEach(() => page.setViewportSize({ width: 1280, height: 800 }));
    afterEach(() => page.setViewportSize(PHONE));
    const names = { driver: 'Ada', owner: 'Voltwise Ltd', client: 'Voltwise' };

    it.each<[string, PageOpener]>([
      ['the audit log', auditLog],
      ['the clients', CONSOLE_PAGES['console clients']!],
      ['the users', CONSOLE_PAGES['console users']!],
      ['the deliveries', CONSOLE_PAGES['console deliveries']!],
      ['the requests', CONSOLE_PAGES['console requests']!],
      ['the consents', CONSOLE_PAGES['console consents']!],
      ['the grants', CONSOLE_PAGES['console grants']!],
      ['the mails', CONSOLE_PAGES['console mails']!],
      ['the notifications', CONSOLE_PAGES['console notifications']!],
      ['the deliveries of the portal', PORTAL_PAGES['deliveries']!],
    ])('has a line of 44 px for each row, and at most one for the filter: %s', async (_name, open) => {
      await open(page, service, await newCast(service, names));
      const found = await page.evaluate(() => {
        const of = (selector: string) =>
          [...document.querySelectorAll(selector)].map((each) => each.getBoundingClientRect());
        return {
          rows: [...new Set(of('table.list tbody tr').map(({ height }) => Math.round(height)))],
          lines: new Set(of('form.filters > .field').map(({ bottom }) => Math.round(bottom))).size,
          fits: document.documentElement.scrollWidth <= innerWidth,
        };
      });
      expect(found.rows.length).toBeGreaterThan(0);
      for (const height of found.rows) expect([44, 45]).toContain(height);
      expect(found.lines).toBeLessThanOrEqual(1);
      expect(found.fits).toBe(true);
    });
  });

  it.each([
    ['on a phone', PHONE],
    ['on a desktop', { width: 1280, height: 800 }],
  ])(
    'the sandbox shows the car, what was sent, and the way to set a fault, in one screen: %s',
    async (_where, size) => {
      const names = { driver: 'Ada', owner: 'Voltwise Ltd', client: 'Voltwise' };
      await PORTAL_PAGES['sandbox with drivers, a form refused']!(
        page,
        service,
        await newCast(service, names),
      );
      await page.setViewportSize(size);
      await page.goto(`${service.url}/portal/sandbox`);
      const seen = await page.evaluate(() =>
        [
          '.car svg',
          'form[action$="/sessions"] button',
          'form[action$="/fail_requests"] button',
          '.time-line li',
        ].map(
          (each) => Math.round(document.querySelector(each)!.getBoundingClientRect().bottom) <= innerHeight,
        ),
      );
      expect(seen).toEqual([true, true, true, true]);
      expect(await page.locator('.time-line li').first().innerText()).toContain('are answered with 503');
      await page.setViewportSize(PHONE);
    },
  );

  describe('takes few clicks, besides what is filled in:', () => {
    const receiver = Receiver.setUp((response) => response.end('thank you'));
    const names = { driver: 'Ada', owner: 'Voltwise Ltd', client: 'Voltwise' };
    let clicks = 0;
    beforeEach(() => (clicks = 0));
    const click = async (role: 'link' | 'button', name: string | RegExp): Promise<void> => {
      clicks += 1;
      await page.getByRole(role, { name, exact: true }).first().click();
      await page.waitForLoadState('domcontentloaded');
    };
    /** On a desktop, where the navigation is in sight. */
    const openPortal = async (client: Cast['client']): Promise<void> => {
      await page.setViewportSize({ width: 1280, height: 900 });
      const value = (await enterPortal(service, client)).cookies.get('cds_portal_session')!;
      await page.context().addCookies([{ name: 'cds_portal_session', value, url: service.url }]);
      await page.goto(`${service.url}/portal`);
    };
    afterEach(() => page.setViewportSize(PHONE));

    it('who reads the data of a driver none after the login, and to take back one item two', async () => {
      const { driver, client } = await newCast(service, names);
      await service.make.updateClient(client, { optionalScopes: ['charging_session:read'] });
      await service.make.consent(client, driver);
      await page.goto(`${service.url}/login`);
      await logIn(page, driver);
      await page.waitForURL(`${service.url}/account`);
      expect(await mainOf(page)).toContain(client.name);
      await click('link', /^Take back/);
      await click('button', 'Save');
      expect([clicks, await said(page)]).toEqual([2, expect.stringContaining('Saved.')]);
      const [consent] = await service.database.query<{ scopes: string[] }>(
        'SELECT scopes FROM consents WHERE user_id = $1 AND client_id = $2',
        [driver.id, client.id],
      );
      expect(consent!.scopes).toContain('vehicle:read');
      expect(consent!.scopes).not.toContain('charging_session:read');
    });

    it('why a request of a partner got 401 one', async () => {
      const { client } = await newCast(service, names);
      await service.http.token({ grant_type: 'client_credentials' }, { ...client, secret: 'wrong' });
      await openPortal(client);
      await click('link', 'Refusals');
      expect([clicks, await mainOf(page)]).toEqual([1, expect.stringMatching(/Wrong secret[^]*401/)]);
    });

    it('to resend what failed last night two', async () => {
      const { client } = await newCast(service, names);
      const endpoint = await makeEndpoint(service, client, { url: receiver.url('/hook') });
      await seedDelivery(service, endpoint, { state: 'failed', attempts: [{ status: 503 }] });
      await service.database.query(
        `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
         VALUES ($1, date_trunc('hour', now()), 0, 1, 90, 90) ON CONFLICT DO NOTHING`,
        [endpoint.id],
      );
      await openPortal(client);
      await click('link', 'Resend them');
      await click('button', 'Resend all that match');
      expect([clicks, await mainOf(page)]).toEqual([2, expect.stringContaining('1 delivery')]);
    });

    it('from an endpoint to its first signed test three', async () => {
      const { client } = await newCast(service, names);
      await openPortal(client);
      await click('link', 'Add endpoint');
      await page.getByLabel('URL').fill(receiver.url('/hook'));
      await page.getByLabel('vehicle.updated').check();
      await click('button', 'Save');
      await click('button', 'Send test');
      await page.getByText('Status 200').first().waitFor();
      expect([clicks, receiver.requests.at(-1)!.headers['webhook-signature']]).toEqual([
        3,
        expect.stringMatching(/^v1,/),
      ]);
    });
  });
});

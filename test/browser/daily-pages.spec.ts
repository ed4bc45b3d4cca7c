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
import { enterPortal, makeEndpoint, seedDelivery } from '../support/portal.js';
import { useService } from '../support/test-service.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';
import { ACCOUNT_PAGES } from './account-pages.js';
import { sharedChromium } from './chromium.js';
import { CONSOLE_PAGES } from './console-pages.js';
import { newCast, type PageOpener } from './every-page.js';
import { filledButtons } from './filled-buttons.js';
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
});

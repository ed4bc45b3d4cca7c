import type { Page } from 'playwright-core';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { sandboxOf } from '#events/sandbox/driver.js';
import { DriversService } from '#events/sandbox/drivers.service.js';
import { PlansService } from '#events/sandbox/plans.service.js';
import { REDIRECT_URI, type TestClient } from '../support/factory.js';
import { authorizePath } from '../support/browser-session.js';
import { madeForEach } from '../support/made.js';
import { enterPortal, makeEndpoint } from '../support/portal.js';
import { Receiver } from '../support/receiver.js';
import { letSandboxTimePass } from '../support/sandbox.js';
import { useService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';
import { headingOf, logIn, press, said } from './page-actions.js';
import { useBrowser } from './use-browser.js';

describe('The sandbox in a browser', () => {
  const service = useService({ env: WEBHOOK_ENV });
  // A stream that cannot be followed, pages that are refused, and the client's own page, where nothing answers.
  const browser = useBrowser(
    (complaint, url) => /status of (400|404|409|503)/.test(complaint) || url.startsWith(REDIRECT_URI),
  );
  const client = madeForEach(() => service.make.client({ name: 'Voltwise', environment: 'sandbox' }));

  const openPortal = async (of: TestClient, path = '/portal/sandbox', withScript = false): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled: withScript });
    const value = (await enterPortal(service, of)).cookies.get('cds_portal_session')!;
    await context.addCookies([{ name: 'cds_portal_session', value, url: service.url }]);
    const page = await context.newPage();
    await page.goto(service.url + path);
    return page;
  };

  /** What is not on the stage is folded, and folded again after each form. */
  const more = async (page: Page): Promise<Page> => {
    await page.getByText('More', { exact: true }).click();
    return page;
  };

  it('without a script, a partner makes a driver, lets a session run, and lets requests fail', async () => {
    const page = await openPortal(client, '/portal');
    expect(await page.getByLabel('Portal owner').getByText('Sandbox').innerText()).toBe('Sandbox');
    await page.getByRole('link', { name: 'Sandbox' }).click();
    await page.getByLabel('Seed').fill('none');
    await press(page, 'Create driver');
    expect(await page.locator('#seed-error').innerText()).toContain('Enter a whole number from 1');
    await page.getByLabel('Name').fill('Robin');
    await page.getByLabel('Seed').fill('42');
    await press(page, 'Create driver');
    expect(await said(page)).toContain('Driver created.');
    await press(page, 'Grant consent');
    expect(await said(page)).toContain('Consent granted.');
    await page.getByLabel('Speed').selectOption('60 times faster');
    await press(page, 'Start session');
    expect(await page.getByRole('listitem').filter({ hasText: 'Robin' }).innerText()).toContain(
      'Session running',
    );
    await press(page, 'Start session');
    expect(await page.getByRole('alert').innerText()).toContain('A session of this driver is running.');
    letSandboxTimePass(service, 12 * 60);
    await until('the session has ended', async () => {
      await page.goto(`${service.url}/portal/sandbox`);
      return !(await page.getByRole('listitem').filter({ hasText: 'Robin' }).innerText()).includes(
        'Session running',
      );
    });
    await more(page);
    await page.getByLabel('Days').fill('31');
    await press(page, 'Send past days');
    expect(await page.locator('#days-error').innerText()).toBe('Enter a whole number from 1 to 30.');
    await page.getByLabel('Days').fill('2');
    await press(page, 'Send past days');
    expect(await said(page)).toContain('past days');
    await more(page);
    await page.getByLabel('Events', { exact: true }).fill('3');
    await press(page, 'Send burst');
    expect(await said(page)).toContain('being sent');
    await press(await more(page), 'Fail next refresh');
    await page.getByLabel('Answer').selectOption({ label: '429: the limit is reached' });
    await page.getByLabel('How many requests').fill('2');
    await press(page, 'Fail next requests');
    expect(await page.locator('main').innerText()).toContain('The next 2 requests are answered with 429');
    await press(await more(page), 'Withdraw consent');
    expect(await said(page)).toContain('Consent withdrawn.');
    await press(await more(page), 'Delete driver');
    expect(await said(page)).toContain('Driver deleted.');
    expect(await page.locator('main').innerText()).toContain('There are no drivers yet.');
  });

  it.each([
    ['as the service tells of them', 'go on'],
    ['where it cannot be followed', 'abort'],
  ] as const)('shows the car and signed requests without a reload, %s', async (_how, streams) => {
    const [receiver, drivers] = [await Receiver.start(), service.app.get(DriversService)];
    const sandbox = sandboxOf(client)!;
    const { id } = await drivers.create(sandbox, { name: 'Robin', seed: 42 }, SERVICE_ACTOR);
    await drivers.consent(sandbox, id, undefined, SERVICE_ACTOR);
    const eventTypes = ['charging_session.created', 'charging_session.updated', 'vehicle.updated'];
    await makeEndpoint(service, client, { url: receiver.url(), eventTypes });
    const page = await openPortal(client, '/portal', true);
    if (streams === 'abort') {
      await page.route('**/portal/sandbox/events', (route) => route.fulfill({ status: 503, body: '' }));
    }
    await page.goto(`${service.url}/portal/sandbox?driver=${id}`);
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));
    const row = (type: string) => page.locator('.time-line li', { hasText: type });
    await page.locator('.empty', { hasText: 'Start a session' }).waitFor();
    const plans = service.app.get(PlansService);
    await plans.startSession(sandbox, id, 60, SERVICE_ACTOR);
    await row('charging_session.created').getByText('Delivered').waitFor();
    await page.getByRole('navigation', { name: 'Drivers' }).getByText('Session running').waitFor();
    const signature = page.locator('.time-line details').first();
    await signature.locator('summary').click();
    await signature.locator('pre', { hasText: 'webhook-signature: v1,' }).waitFor();
    // Until it charges; what was opened stays open, and the focus where it is.
    letSandboxTimePass(service, 70);
    await row('vehicle.updated').first().getByText('Delivered').waitFor();
    await page.locator('#car', { hasText: /charging with [\d.]+ kW/ }).waitFor();
    await page.getByRole('img', { name: /^Power over time, now [\d.]+ kW$/ }).waitFor();
    expect(await row('charging_session.created').locator('details[open]').count()).toBe(1);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('SUMMARY');
    expect(await page.evaluate(() => 'isSamePage' in window)).toBe(true);
    await receiver.stop();
  });

  it('without a script, a driver authorizes by a choice, and a live portal has no sandbox', async () => {
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(
      service.url +
        authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI }),
    );
    expect(await page.locator('main').innerText()).toContain('Sandbox');
    await press(page, 'Create driver');
    expect(await page.getByLabel('Driver').inputValue()).toMatch(/^user/);
    const back = page.waitForRequest((request) => request.url().startsWith(REDIRECT_URI));
    await press(page, 'Authorize');
    expect(new URL((await back).url()).searchParams.get('code')).toMatch(/^cds_ac_/);
    const live = await openPortal(await service.make.client(), '/portal/sandbox');
    expect(await headingOf(live)).toBe('Not found');
    await live.goto(`${service.url}/portal`);
    expect(await live.getByRole('link', { name: 'Sandbox' }).count()).toBe(0);
  });

  it('without a script, an operator creates a client in the sandbox, and sees the badge wherever it is shown', async () => {
    const operator = await service.make.user({ role: 'operator' });
    const owner = await service.make.user({ kind: 'organisation', name: 'Voltwise Ltd' });
    const page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(`${service.url}/admin/console/clients/new?owner=${owner.id}`);
    await logIn(page, operator);
    await page.getByLabel('Name').fill('Voltwise trial');
    await page.getByLabel('Sandbox', { exact: true }).check();
    await page.getByLabel('Redirect URIs').fill(REDIRECT_URI);
    await page.getByLabel('vehicle:read').check();
    await press(page, 'Create client');
    expect(await headingOf(page)).toBe('Client created');
    await page.goto(`${service.url}/admin/console/clients?q=Voltwise&environment=sandbox`);
    const row = page.getByRole('row', { name: /Voltwise trial/ });
    expect(await row.innerText()).toContain('Sandbox');
    await row.getByRole('link', { name: 'Voltwise trial' }).click();
    expect(await page.locator('.badge-warn').first().innerText()).toBe('Sandbox');
  });
});

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { authorizePath } from '../support/browser-session.js';
import { enterPortal } from '../support/portal.js';
import { letSandboxTimePass } from '../support/sandbox.js';
import { startService, type TestService } from '../support/test-service.js';
import { until } from '../support/until.js';
import { WEBHOOK_ENV } from '../support/webhooks.js';
import { launchChromium } from './chromium.js';

describe('The sandbox in a browser, without a script', () => {
  let service: TestService;
  let browser: Browser;
  let context: BrowserContext;
  let client: TestClient;

  beforeAll(async () => {
    service = await startService({ env: WEBHOOK_ENV });
    browser = await launchChromium();
  });
  beforeEach(async () => {
    context = await browser.newContext({ javaScriptEnabled: false });
    client = await service.make.client({ name: 'Voltwise', environment: 'sandbox' });
  });
  afterEach(() => context.close());
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const said = (page: Page) => page.getByRole('status').innerText();
  const openPortal = async (of: TestClient, path = '/portal/sandbox'): Promise<Page> => {
    const value = (await enterPortal(service, of)).cookies.get('portal_session')!;
    await context.addCookies([{ name: 'portal_session', value, url: service.url }]);
    const page = await context.newPage();
    await page.goto(service.url + path);
    return page;
  };

  it('a partner makes a driver, lets a session run, and lets requests fail', async () => {
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
    await page.getByLabel('Days').fill('31');
    await press(page, 'Send past days');
    expect(await page.locator('#days-error').innerText()).toBe('Enter a whole number from 1 to 30.');
    await page.getByLabel('Days').fill('2');
    await press(page, 'Send past days');
    expect(await said(page)).toContain('past days');
    await page.getByLabel('Events', { exact: true }).fill('3');
    await press(page, 'Send burst');
    expect(await said(page)).toContain('being sent');
    await press(page, 'Fail next refresh');
    await page.getByLabel('Answer').selectOption({ label: '429: the limit is reached' });
    await page.getByLabel('How many requests').fill('2');
    await press(page, 'Fail next requests');
    expect(await page.locator('main').innerText()).toContain('The next 2 requests are answered 429');
    await press(page, 'Withdraw consent');
    expect(await said(page)).toContain('Consent withdrawn.');
    await press(page, 'Delete driver');
    expect(await said(page)).toContain('Driver deleted.');
    expect(await page.locator('main').innerText()).toContain('There are no drivers yet.');
  });

  it('a driver authorizes by a choice, and a live portal has no sandbox', async () => {
    const page = await context.newPage();
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
    expect(await live.getByRole('heading', { level: 1 }).innerText()).toBe('Not found');
    await live.goto(`${service.url}/portal`);
    expect(await live.getByRole('link', { name: 'Sandbox' }).count()).toBe(0);
  });

  it('an operator creates a client in the sandbox, and sees the badge wherever it is shown', async () => {
    const operator = await service.make.user({ role: 'operator' });
    const owner = await service.make.user({ kind: 'organisation', name: 'Voltwise Ltd' });
    const page = await context.newPage();
    await page.goto(`${service.url}/admin/console/clients/new?owner=${owner.id}`);
    await page.getByLabel('Email').fill(operator.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await press(page, 'Log in');
    await page.getByLabel('Name').fill('Voltwise trial');
    await page.getByLabel('Sandbox', { exact: true }).check();
    await page.getByLabel('Redirect URIs').fill(REDIRECT_URI);
    await page.getByLabel('vehicle:read').check();
    await press(page, 'Create client');
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Client created');
    await page.goto(`${service.url}/admin/console/clients?q=Voltwise&environment=sandbox`);
    const row = page.getByRole('row', { name: /Voltwise trial/ });
    expect(await row.innerText()).toContain('Sandbox');
    await row.getByRole('link', { name: 'Voltwise trial' }).click();
    expect(await page.locator('.badge-warn').first().innerText()).toBe('Sandbox');
  });
});

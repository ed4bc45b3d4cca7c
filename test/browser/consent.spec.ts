import type { Browser, BrowserContext, Page } from 'playwright-core';
import { ConsentsService } from '../../src/consents/consents.service.js';
import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import { authorizePath } from '../support/browser-session.js';
import { PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { type TestService, sharedService } from '../support/test-service.js';
import { launchChromium } from './chromium.js';

describe('The consent page in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let context: BrowserContext;
  let user: UserEntity;
  let client: TestClient;

  beforeAll(async () => {
    service = await sharedService();
    browser = await launchChromium();
  });
  beforeEach(async () => {
    user = await service.make.user({ name: 'Dana Driver' });
    client = await service.make.client({
      name: 'Northwind Smart Charging',
      optionalScopes: ['vehicle:read'],
      consentExpiryDays: 365,
    });
  });
  afterEach(() => context.close());
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  const open = async (size = { width: 390, height: 650 }, colorScheme: 'light' | 'dark' = 'light') => {
    context = await browser.newContext({ viewport: size, colorScheme, javaScriptEnabled: false });
    const page = await context.newPage();
    const path = authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI });
    await page.goto(`${service.url}${path}`);
    await page.getByLabel('Email').fill(user.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    return page;
  };
  const isInSight = (page: Page, name: string): Promise<boolean> =>
    page.getByRole('button', { name, exact: true }).evaluate((button) => {
      const { top, bottom } = button.getBoundingClientRect();
      return top >= 0 && bottom <= innerHeight;
    });

  it.each(['light', 'dark'] as const)(
    'has both decisions in sight on a small phone, in %s',
    async (scheme) => {
      const page = await open(undefined, scheme);
      if (process.env.SCREENSHOTS) {
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/consent-${scheme}.png` });
      }
      expect([await isInSight(page, 'Authorize'), await isInSight(page, 'Cancel')]).toEqual([true, true]);
      await page.mouse.wheel(0, 200);
      expect([await isInSight(page, 'Authorize'), await isInSight(page, 'Cancel')]).toEqual([true, true]);
      if (process.env.SCREENSHOTS)
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/consent-${scheme}.png` });
    },
  );

  it('does not show names of scopes unless they are opened', async () => {
    const page = await open();
    const name = page.getByText('charging_session:read', { exact: true });
    expect(await name.isVisible()).toBe(false);
    await page.getByText('Technical details').click();
    expect(await name.isVisible()).toBe(true);
  });

  it('lets the driver choose, see the receipt, choose again and renew', async () => {
    const consent = await open({ width: 1280, height: 800 });
    const choice = consent.getByRole('checkbox');
    expect(await choice.isChecked()).toBe(false);
    const back = consent.waitForRequest((request) => request.url().startsWith(REDIRECT_URI));
    await consent.getByRole('button', { name: 'Authorize', exact: true }).click();
    expect((await back).url()).toContain('code=');
    const shared = async () => (await service.app.get(ConsentsService).findLive(client.id, user.id))?.scopes;
    expect(await shared()).toEqual(['charging_session:read']);

    // The application is not there, so that page shows an error.
    const page = await context.newPage();
    await page.goto(`${service.url}/account`);
    await page.getByRole('link', { name: 'Renew' }).click();
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Renew', exact: true }).click();
    expect(await shared()).toEqual(['charging_session:read', 'vehicle:read']);
    expect(await page.getByRole('status').innerText()).toBe(
      'Saved. The application may read what you chose.',
    );
    await page.getByRole('link', { name: /^Receipt/ }).click();
    expect(await page.getByRole('heading', { level: 1 }).innerText()).toBe('Receipt');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download receipt' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^receipt-[0-9a-f-]{36}\.json$/);
  });
});

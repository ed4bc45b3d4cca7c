import type { Browser, Page } from 'playwright-core';
import { type TestService, sharedService } from '../support/test-service.js';
import { launchChromium } from './chromium.js';
import { copied } from './copied.js';

describe('the API description in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let page: Page;

  beforeAll(async () => {
    service = await sharedService();
    browser = await launchChromium();
  });
  beforeEach(async () => {
    page = await browser.newPage({ javaScriptEnabled: false });
  });
  afterEach(() => page.close());
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  it('copies a sample of a guide with a button, where scripts run', async () => {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'] });
    const guide = await context.newPage();
    const complaints: string[] = [];
    guide.on('console', (message) => complaints.push(message.text()));
    await guide.goto(`${service.url}/docs/guides/first-token`);
    expect(await copied(guide, guide.locator('pre[data-file="token.sh"] + button'))).toContain(
      `${service.url}/o/token`,
    );
    await context.close();
    expect(complaints).toEqual([]);
  });

  it.each(['/docs', '/docs/operators'])(
    'says at %s, without a script, where the document is',
    async (path) => {
      await page.goto(service.url + path);
      const text = await page.getByRole('main').innerText();
      expect(text).toContain('The reference of all operations needs JavaScript.');
      expect(text).not.toContain('could not be loaded');
      await page.getByRole('link', { name: /^openapi.*json$/ }).click();
      expect(JSON.parse(await page.locator('body').innerText())).toMatchObject({ openapi: '3.1.0' });
    },
  );

  it('says so where the reference does not load', async () => {
    const scripted = await browser.newPage();
    await scripted.route('**/assets/scalar-*', (route) => route.abort());
    await scripted.goto(`${service.url}/docs`);
    await scripted.getByText('The reference could not be loaded.').waitFor();
    expect(await scripted.getByText('needs JavaScript').isVisible()).toBe(false);
    await scripted.close();
  });

  it('leads to the guides, and from one guide to another, on a desktop and on a phone', async () => {
    await page.goto(`${service.url}/docs`);
    await page.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'Guides' }).click();
    await page.getByRole('main').getByRole('link', { name: 'Your first token' }).click();
    const title = () => page.getByRole('heading', { level: 1 }).innerText();
    expect(await title()).toBe('Your first token');
    const list = page.getByRole('navigation', { name: 'Guides', exact: true });
    await list.getByRole('link', { name: 'Errors' }).click();
    expect(await title()).toBe('Errors');
    await page.getByRole('link', { name: 'invalid_grant' }).click();
    expect(page.url()).toMatch(/\/docs\/guides\/errors#invalid-grant$/);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await list.isVisible()).toBe(false);
    await page.getByText('All guides').click();
    await page.getByRole('link', { name: 'Authlib (Python)', exact: true }).click();
    expect(await title()).toBe('Authlib (Python)');
  });
});

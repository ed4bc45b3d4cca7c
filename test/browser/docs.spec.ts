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

  const isShown = (id: string) => page.locator(`[id="${id}"]`).isVisible();

  it('opens the target of an address, without a script', async () => {
    await page.goto(`${service.url}/docs/operators#getDelivery`);
    expect([await isShown('getDelivery'), await isShown('listDeliveries')]).toEqual([true, false]);
  });

  it('opens the target of a link, visible together with its row', async () => {
    await page.goto(`${service.url}/docs/operators#getDelivery`);
    await page.locator('[id="getDelivery"] a[href="#schema-DeliveryWithAttempts"]').click();
    expect(await isShown('schema-DeliveryWithAttempts')).toBe(true);
    const row = await page.locator('summary', { hasText: /^DeliveryWithAttempts$/ }).boundingBox();
    expect(row!.y >= 0 && row!.y < page.viewportSize()!.height).toBe(true);
  });

  it('has a target for every link', async () => {
    await page.goto(`${service.url}/docs/operators`);
    const targets = await page
      .locator('a[href^="#"]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')!.slice(1)));
    const missing: string[] = [];
    for (const id of new Set(targets)) {
      if ((await page.locator(`[id="${id}"]`).count()) !== 1) missing.push(id);
    }
    expect([targets.length > 50, missing]).toEqual([true, []]);
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

  it('has samples in four languages, with what was recorded', async () => {
    await page.goto(`${service.url}/docs/operators#createClient`);
    const operation = page.locator('[id="createClient"]');
    const languages = operation.locator('details > summary');
    expect(await languages.allInnerTexts()).toEqual(['curl', 'Node.js', 'Python', 'Go']);
    await languages.first().click();
    const sample = await operation.locator('details[open] pre').innerText();
    expect(sample).toContain(`curl --request POST '${service.url}/admin/clients'`);
    expect(sample).toContain('"grant_types"');
  });

  it('has rows that look expandable and are large enough to click', async () => {
    await page.goto(`${service.url}/docs`);
    for (const row of (await page.locator('.docs-section > details > summary').all()).slice(0, 5)) {
      const { listStyleType, display, cursor } = await row.evaluate((element) => {
        const style = getComputedStyle(element);
        return { listStyleType: style.listStyleType, display: style.display, cursor: style.cursor };
      });
      expect([listStyleType, display, cursor]).toEqual(['disclosure-closed', 'list-item', 'pointer']);
      expect((await row.boundingBox())!.height).toBeGreaterThanOrEqual(24);
    }
    await page.locator('summary').first().click();
    const opened = await page
      .locator('summary')
      .first()
      .evaluate((element) => getComputedStyle(element).listStyleType);
    expect(opened).toBe('disclosure-open');
  });
});

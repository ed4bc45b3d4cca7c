import { readFile } from 'node:fs/promises';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { PASSWORD } from '../support/factory.js';
import { codeOf } from '../support/second-factors.js';
import { startService, type TestService } from '../support/test-service.js';
import { launchChromium } from './chromium.js';
import { copied } from './copied.js';

describe('New recovery codes', () => {
  let service: TestService;
  let browser: Browser;
  let context: BrowserContext;

  beforeAll(async () => {
    service = await startService({ hostname: 'localhost' });
    browser = await launchChromium();
  });
  afterEach(() => context.close());
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  /** The page that shows them, after an authenticator app was set up. */
  async function shown(javaScriptEnabled: boolean): Promise<Page> {
    const user = await service.make.user();
    context = await browser.newContext({
      javaScriptEnabled,
      acceptDownloads: true,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    const page = await context.newPage();
    await page.goto(`${service.url}/account/security/app/new`);
    await page.getByLabel('Email').fill(user.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await page.getByRole('button', { name: 'Log in', exact: true }).click();
    const secret = (await page.locator('code.secret').innerText()).replaceAll(' ', '');
    await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
    await page.locator('main form button[type=submit]').first().click();
    await page.getByRole('heading', { level: 1, name: 'Recovery codes' }).waitFor();
    return page;
  }
  const codesOn = (page: Page): Promise<string[]> =>
    page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').allInnerTexts();

  it('are copied and saved as a file, a line for each', async () => {
    const page = await shown(true);
    const codes = await codesOn(page);
    expect(codes).toHaveLength(10);
    const saving = page.waitForEvent('download');
    await page.getByRole('button', { name: 'Download' }).click();
    const download = await saving;
    expect(download.suggestedFilename()).toBe('recovery-codes.txt');
    // The address of the file says nothing of what is in it.
    expect(download.url()).toMatch(/^blob:/);
    expect(await readFile(await download.path(), 'utf8')).toBe(`${codes.join('\n')}\n`);
    expect(await copied(page, page.getByRole('button', { name: 'Copy all' }))).toBe(codes.join('\n'));
  });

  it('are shown without a script as well, without buttons that do nothing', async () => {
    const page = await shown(false);
    expect(await codesOn(page)).toHaveLength(10);
    expect(await page.getByRole('button', { name: /Copy|Download/ }).count()).toBe(0);
  });
});

import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { codeOf } from '../support/second-factors.js';
import { useSharedService } from '../support/test-service.js';
import { copied } from './copied.js';
import { signIn } from './every-page.js';
import { headingIs } from './page-actions.js';
import { useBrowser } from './use-browser.js';

describe('New recovery codes', () => {
  const service = useSharedService();
  const browser = useBrowser();

  /** The page that shows them, after an authenticator app was set up. */
  async function shown(javaScriptEnabled: boolean): Promise<Page> {
    const user = await service.make.user();
    const page = await browser.newPage({
      javaScriptEnabled,
      acceptDownloads: true,
      permissions: ['clipboard-read', 'clipboard-write'],
    });
    await signIn(service, page, user);
    await page.goto(`${service.url}/account/security/app/new`);
    const secret = (await page.locator('code.secret').innerText()).replaceAll(' ', '');
    await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
    await page.locator('main form button[type=submit]').first().click();
    await headingIs(page, 'Recovery codes');
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

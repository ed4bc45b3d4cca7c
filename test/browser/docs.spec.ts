import type { Page } from 'playwright-core';
import { useSharedService } from '../support/test-service.js';
import { copied } from './copied.js';
import { headingOf, mainOf } from './page-actions.js';
import { useBrowser } from './use-browser.js';

describe('the API description in a browser', () => {
  const service = useSharedService();
  const browser = useBrowser((complaint) => complaint.includes('ERR_FAILED'));
  const withoutScripts = (): Promise<Page> => browser.newPage({ javaScriptEnabled: false });

  it('copies a sample of a guide with a button, where scripts run', async () => {
    const guide = await browser.newPage({ permissions: ['clipboard-read', 'clipboard-write'] });
    await guide.goto(`${service.url}/docs/guides/first-token`);
    expect(await copied(guide, guide.locator('pre[data-file="token.sh"] + button'))).toContain(
      `${service.url}/o/token`,
    );
  });

  const scripted = async (path: string): Promise<Page> => {
    const guide = await browser.newPage();
    await guide.goto(service.url + path);
    return guide;
  };
  const samplesIn = (of: Page) => of.locator('.samples').first().locator('pre:visible');
  const filesIn = async (of: Page) =>
    samplesIn(of).evaluateAll((all) => all.map((pre) => (pre as HTMLElement).dataset.file));

  it('shows a sample in the language of the tab, without a script too, with a mouse and a keyboard', async () => {
    const page = await withoutScripts();
    await page.goto(`${service.url}/docs/guides/first-token`);
    expect(await filesIn(page)).toEqual(['token.sh']);
    const tabs = page.getByRole('group', { name: 'Language of sample 1' });
    await tabs.getByText('Python').click();
    expect(await filesIn(page)).toEqual(['get_token.py']);
    await page.keyboard.press('ArrowRight');
    expect(await filesIn(page)).toEqual(['token.go']);
    expect(await tabs.getByRole('radio', { name: 'Go' }).isChecked()).toBe(true);
  });

  it('remembers the language for all samples and pages, where scripts run', async () => {
    const guide = await scripted('/docs/guides/first-token');
    const second = guide.getByRole('group', { name: 'Language of sample 2' });
    await second.getByText('Node.js').click();
    expect(await filesIn(guide)).toEqual(['token.mjs']);
    await guide.goto(`${service.url}/docs/guides/refresh`);
    expect(await filesIn(guide)).toEqual(['refresh-once.mjs']);
  });

  it('puts what is typed into the samples of this page only, and stores it nowhere', async () => {
    const guide = await scripted('/docs/guides/first-token');
    const requests: string[] = [];
    guide.on('request', (request) => requests.push(request.url()));
    await guide.getByText('Put your credentials into the samples').click();
    await guide.getByLabel('Client ID', { exact: true }).fill('clnt01ABC');
    await guide.getByLabel('Client secret').fill('cds_cs_x $(id)');
    const sample = guide.locator('pre', { hasText: 'export CLIENT_ID' });
    expect(await sample.textContent()).toBe('export CLIENT_ID=clnt01ABC\nexport CLIENT_SECRET=cds_cs_xid\n');
    await guide.getByLabel('Client secret').fill('');
    expect(await sample.textContent()).toContain('CLIENT_SECRET=cds_cs_…');
    const kept = await guide.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }]));
    expect([kept, requests]).toEqual(['[{},{}]', []]);
    // Without a script nothing could be put in.
    const page = await withoutScripts();
    await page.goto(`${service.url}/docs/guides/first-token`);
    expect(await page.getByText('Put your credentials into the samples').isVisible()).toBe(false);
  });

  it('searches with a form, which a key leads to', async () => {
    const page = await withoutScripts();
    await page.goto(`${service.url}/docs/guides`);
    await page.getByLabel('Search the documentation').fill('invalid_grant');
    await page.getByRole('button', { name: 'Search' }).click();
    await page.getByRole('link', { name: 'invalid_grant', exact: true }).click();
    expect(page.url()).toMatch(/\/docs\/guides\/errors#invalid-grant$/);
    const guide = await scripted('/docs/guides/errors');
    await guide.keyboard.press('/');
    await guide.keyboard.type('charging_session.ended');
    await guide.keyboard.press('Enter');
    await guide.getByRole('link', { name: 'charging_session.ended', exact: true }).waitFor();
    await guide.goto(`${service.url}/docs`);
    await guide.getByRole('navigation', { name: 'Guides' }).getByRole('link').first().click();
    await guide.waitForURL(`${service.url}/`);
  });

  it.each(['/docs', '/docs/operators'])(
    'says at %s, without a script, where the document is',
    async (path) => {
      const page = await withoutScripts();
      await page.goto(service.url + path);
      const text = await mainOf(page);
      expect(text).toContain('The reference of all operations needs JavaScript.');
      expect(text).not.toContain('could not be loaded');
      await page.getByRole('link', { name: /^openapi.*json$/ }).click();
      expect(JSON.parse(await page.locator('body').innerText())).toMatchObject({ openapi: '3.1.0' });
    },
  );

  it('says so where the reference does not load', async () => {
    const broken = await browser.newPage();
    await broken.route('**/assets/scalar-*', (route) => route.abort());
    await broken.goto(`${service.url}/docs`);
    await broken.getByRole('link', { name: 'POST /o/token' }).click();
    await broken.getByText('The reference could not be loaded.').waitFor();
    expect(await broken.getByText('needs JavaScript').isVisible()).toBe(false);
  });

  it('lists all operations at once, and opens the reference at the one that is chosen', async () => {
    const loaded: string[] = [];
    const reader = await browser.newPage();
    reader.on('request', (request) => loaded.push(new URL(request.url()).pathname));
    await reader.goto(`${service.url}/docs`);
    const type = reader.getByRole('row', { name: /^vehicle\.updated/ });
    expect(await type.innerText()).toMatch(/Requires the scope vehicle:read, .*consent\.\s*$/);
    expect(loaded.filter((path) => path.includes('scalar'))).toEqual([]);
    await reader.getByRole('link', { name: 'GET /v2/users', exact: true }).click();
    await reader
      .locator('#reference')
      .getByRole('heading', { name: 'The users who share data with the client' })
      .waitFor();
  });

  it('leads to the guides, and from one guide to another, on a desktop and on a phone', async () => {
    const page = await withoutScripts();
    await page.goto(`${service.url}/docs`);
    await page.getByRole('navigation', { name: 'Guides' }).getByRole('link', { name: 'Guides' }).click();
    await page.getByRole('main').getByRole('link', { name: 'Your first token' }).click();
    expect(await headingOf(page)).toBe('Your first token');
    const list = page.getByRole('navigation', { name: 'Guides', exact: true });
    await list.getByRole('link', { name: 'Errors' }).click();
    expect(await headingOf(page)).toBe('Errors');
    await page.getByRole('link', { name: 'invalid_grant' }).click();
    expect(page.url()).toMatch(/\/docs\/guides\/errors#invalid-grant$/);
    await page.setViewportSize({ width: 360, height: 740 });
    expect(await list.isVisible()).toBe(false);
    await page.getByText('All guides').click();
    await page.getByRole('link', { name: 'Authlib (Python)', exact: true }).click();
    expect(await headingOf(page)).toBe('Authlib (Python)');
  });
});

import { writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { authorizePath } from '../support/browser-session.js';
import { REDIRECT_URI } from '../support/factory.js';
import { useService } from '../support/test-service.js';
import { png, showLogo } from '../support/uploads.js';
import { ACCOUNT_PAGES } from './account-pages.js';
import { CONSOLE_PAGES } from './console-pages.js';
import { EVERY_PAGE, type PageOpener } from './every-page.js';
import { logIn } from './page-actions.js';
import { checkPages } from './page-checks.js';
import { PORTAL_PAGES } from './portal-pages.js';
import { useBrowser } from './use-browser.js';

const ENV = {
  BRAND_NAME: 'Elektrofahrzeugladedatenauswertungsgesellschaft',
  BRAND_ACCENT_COLOR: '#b3005e',
  BRAND_SUPPORT_EMAIL: 'a-very-long-support-address-of-the-company@voltera.example',
  BRAND_PRIVACY_URL: 'https://voltera.example/privacy',
  BRAND_TERMS_URL: 'https://voltera.example/terms',
  BRAND_FOOTER: 'Elektrofahrzeugladedatenauswertungsgesellschaft mbH, Berlin, HRB 123456',
};

/** The page with logos, and all that users see of the client. */
const known =
  (opener: PageOpener): PageOpener =>
  async (page, service, cast) => {
    await showLogo(service, cast.client);
    const identity = {
      organisation: 'Elektrofahrzeugladedatenauswertungsgesellschaft'.repeat(2),
      site: `https://${'a-long-label.'.repeat(12)}example/`,
      privacyPolicy: 'https://planner.example/privacy',
    };
    await service.app.get(ClientsService).update(cast.client.id, identity, SERVICE_ACTOR);
    await opener(page, service, cast);
  };

const PAGES = { ...EVERY_PAGE, ...ACCOUNT_PAGES, ...CONSOLE_PAGES, ...PORTAL_PAGES };

describe('in the company’s name, pages that people see first', () =>
  checkPages(
    Object.fromEntries(
      [
        'login',
        'consent',
        'account with an application',
        'console brand',
        'console preview of the brand',
      ].map((name) => [name, known(PAGES[name]!)]),
    ),
    async (page) => {
      const width = await page.locator('.brand-logo').evaluate(async (element) => {
        const image = element as HTMLImageElement;
        await image.decode();
        return image.naturalWidth;
      });
      expect(width).toBeGreaterThan(0);
    },
    ENV,
  ));

describe('the console pages of the brand', () =>
  checkPages(
    Object.fromEntries(
      [
        'console brand',
        'console edit the brand',
        'console edit the brand, refused',
        'console preview of the brand',
        'console logo of the service',
        'console logo of a client, shown',
      ].map((name) => [name, CONSOLE_PAGES[name]!]),
    ),
  ));

describe('in a browser without scripts, an admin', () => {
  const service = useService();
  const browser = useBrowser();
  let page: Page;
  beforeEach(async () => {
    page = await browser.newPage({ javaScriptEnabled: false, viewport: { width: 390, height: 844 } });
  });

  const enter = async (input: { role?: 'operator' } = {}) => {
    await page.context().clearCookies();
    await page.goto(`${service.url}/login`);
    await logIn(page, await service.make.user(input));
    await page.getByRole('button', { name: 'Log out' }).waitFor();
  };
  const colorOf = (name: string) =>
    page
      .getByRole('button', { name })
      .first()
      .evaluate((button) => getComputedStyle(button as never).backgroundColor);

  it('previews the brand, saves it, uploads a logo, and drivers see it', async () => {
    await enter({ role: 'operator' });
    await page.goto(`${service.url}/admin/console`);
    await page.getByText('Menu', { exact: true }).click();
    await page.getByRole('link', { name: 'Brand' }).click();
    await page.getByRole('link', { name: 'Edit' }).click();
    await page.getByLabel('Name').fill('Voltera');
    await page.getByLabel('Accent colour').fill('#5b21b6');
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByText('Nothing is saved yet').waitFor();
    expect(await colorOf('Save')).toBe('rgb(91, 33, 182)');
    expect(await page.getByRole('banner').innerText()).toBe('Voltera');
    await page.getByRole('button', { name: 'Go on editing' }).click();
    expect(await page.getByLabel('Accent colour').inputValue()).toBe('#5b21b6');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('Brand saved.').waitFor();

    const file = join(tmpdir(), `logo-${process.pid}.png`);
    writeFileSync(file, await png(200, 100, '#5b21b6'));
    await page.getByRole('link', { name: 'Logo' }).click();
    await page.getByLabel('Image').setInputFiles(file);
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('Logo saved.').waitFor();

    const client = await service.make.client({ name: 'Planner', organisation: 'Planner GmbH' });
    await page.goto(`${service.url}/admin/console/clients/${client.id}/logo`);
    await page.getByLabel('Image').setInputFiles(file);
    await page.getByRole('button', { name: 'Upload' }).click();
    await page.getByText('Logo saved.').waitFor();

    await enter();
    await page.goto(
      service.url +
        authorizePath({
          response_type: 'code',
          client_id: client.id,
          redirect_uri: REDIRECT_URI,
          state: 's',
        }),
    );
    expect(await page.title()).toBe('Authorize an application · Voltera');
    await page.getByText('By Planner GmbH').waitFor();
    expect(await colorOf('Authorize')).toBe('rgb(91, 33, 182)');
    const sizes = await page
      .locator('.brand-logo, .tile-logo')
      .evaluateAll((images) =>
        images.map((image) => (image as never as { naturalWidth: number }).naturalWidth),
      );
    expect(sizes).toEqual([200, 200]);
  });
});

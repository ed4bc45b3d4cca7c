import type { Page } from 'playwright-core';
import { ConsentsService } from '#access/consents/consents.service.js';
import { RIGHT_TO_LEFT } from '#platform/language/languages.js';
import { authorizePath } from '../support/browser-session.js';
import { PASSWORD, REDIRECT_URI } from '../support/factory.js';
import { madeForEach } from '../support/made.js';
import { useSharedService } from '../support/test-service.js';
import { signIn } from './every-page.js';
import { headingOf, logIn, manage, said } from './page-actions.js';
import { useBrowser } from './use-browser.js';

describe('The consent page in a browser', () => {
  const service = useSharedService();
  // The application itself is not there.
  const browser = useBrowser((_complaint, url) => url.startsWith(REDIRECT_URI));
  const user = madeForEach(() => service.make.user({ name: 'Dana Driver' }));
  const client = madeForEach(() =>
    service.make.client({
      name: 'Northwind Smart Charging',
      optionalScopes: ['vehicle:read'],
      consentExpiryDays: 365,
    }),
  );
  afterEach(() => RIGHT_TO_LEFT.clear());

  const phone = { width: 390, height: 650 };
  const path = (): string =>
    authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI });
  /** The page, for a driver who is logged in already. */
  const open = async (colorScheme: 'light' | 'dark' = 'light') => {
    const page = await browser.newPage({ viewport: phone, colorScheme, javaScriptEnabled: false });
    await signIn(service, page, user);
    await page.goto(`${service.url}${path()}`);
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
      const page = await open(scheme);
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
    const consent = await browser.newPage({
      viewport: { width: 1280, height: 800 },
      javaScriptEnabled: false,
    });
    await consent.goto(`${service.url}${path()}`);
    await logIn(consent, user);
    const choice = consent.getByRole('checkbox');
    expect(await choice.isChecked()).toBe(false);
    const back = consent.waitForRequest((request) => request.url().startsWith(REDIRECT_URI));
    await consent.getByRole('button', { name: 'Authorize', exact: true }).click();
    expect((await back).url()).toContain('code=');
    const shared = async () => (await service.app.get(ConsentsService).findLive(client.id, user.id))?.scopes;
    expect(await shared()).toEqual(['charging_session:read']);

    // The application is not there, so that page shows an error.
    const page = await consent.context().newPage();
    await page.goto(`${service.url}/account`);
    await manage(page, client.name);
    await page.getByRole('link', { name: 'Renew' }).click();
    expect(await headingOf(page)).toBe('Renew');
    await page.getByRole('checkbox').check();
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    expect(await shared()).toEqual(['charging_session:read', 'vehicle:read']);
    expect(await said(page)).toBe('Saved. The application may read what you chose.');
    await manage(page, client.name);
    await page.getByRole('link', { name: /^Receipt/ }).click();
    expect(await headingOf(page)).toBe('Receipt');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Download receipt' }).click(),
    ]);
    expect(file.suggestedFilename()).toMatch(/^receipt-[0-9a-f-]{36}\.json$/);
  });

  it('is mirrored for a language that is written from right to left, as the login and the account are', async () => {
    const page = await browser.newPage({
      locale: 'nl',
      viewport: phone,
      javaScriptEnabled: false,
    });
    const look = async () => {
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
      return page.evaluate(() =>
        [...document.querySelectorAll('body :is(svg, h1, h2, p, label, input, button, a, li, dt, summary)')]
          // What stands inside a sentence follows its words, which are Dutch.
          .filter((element) => element.checkVisibility() && !element.matches('.skip-link, p .link-button'))
          .map((element) => {
            const { left, right } = element.getBoundingClientRect();
            return { what: element.outerHTML.slice(0, 80), left, right };
          }),
      );
    };
    /** Looks at the page, and at the same words as if they were of a language that is written the other way. */
    const expectMirrored = async (name: string): Promise<void> => {
      const usual = await look();
      RIGHT_TO_LEFT.add('nl');
      await page.reload();
      const mirrored = await look();
      if (process.env.SCREENSHOTS)
        await page.screenshot({ path: `${process.env.SCREENSHOTS}/rtl-${name}.png`, fullPage: true });
      expect(await page.getAttribute('html', 'dir')).toBe('rtl');
      RIGHT_TO_LEFT.delete('nl');
      expect(mirrored.map(({ what }) => what)).toEqual(usual.map(({ what }) => what));
      const askew = usual.filter(({ left }, n) => Math.abs(left - (390 - mirrored[n]!.right)) > 1);
      expect(askew).toEqual([]);
      expect(usual.length).toBeGreaterThan(5);
    };
    await page.goto(`${service.url}${path()}`);
    await expectMirrored('login');
    await page.reload();
    await page.locator('[name=email]').fill(user.email);
    await page.locator('[name=password]').fill(PASSWORD);
    await page.locator('form[action="/login"] button').click();
    await expectMirrored('consent');
    await service.make.consent(client, user);
    await page.goto(`${service.url}/account`);
    await expectMirrored('account');
  });
});

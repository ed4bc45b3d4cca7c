import type { Page } from 'playwright-core';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { BrandService } from '#records/brand/brand.service.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { PLAIN_BRAND } from '#platform/config/brand-values.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { MESSAGES } from '#records/notifications/message-catalogue.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { useServiceWithMail } from '../support/set-up.js';
import { showLogo } from '../support/uploads.js';
import { logIn, press } from './page-actions.js';
import { expectAccessible, expectNoSidewaysScroll } from './page-checks.js';
import { useBrowser } from './use-browser.js';

const NEW_PASSWORD = 'a new long password';

describe('by mail, in a browser without scripts,', () => {
  const { service, smtp } = useServiceWithMail({ env: { SIGN_UP: 'true' } });
  const browser = useBrowser();
  let page: Page;
  beforeEach(async () => {
    page = await browser.newPage({ javaScriptEnabled: false });
    await page.goto(`${service.url}/login`);
  });

  const useNewPassword = async (email: string): Promise<void> => {
    await page.getByRole('link', { name: 'Go to the login page' }).click();
    await logIn(page, { email }, NEW_PASSWORD);
    await page.goto(`${service.url}/account/email`);
    await page.getByText('Confirmed', { exact: true }).waitFor();
  };

  it('a forgotten password is set anew', async () => {
    const { email } = await service.make.user();
    await page.getByRole('link', { name: 'Forgot your password?' }).click();
    await page.getByLabel('Email').fill(email);
    await press(page, 'Send link');
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await page.goto((await smtp.mailTo(email)).link);
    await page.getByLabel('New password', { exact: true }).fill(NEW_PASSWORD);
    await page.getByLabel('Repeat new password').fill(NEW_PASSWORD);
    await press(page, 'Set password');
    await useNewPassword(email);
  });

  it('an account is created', async () => {
    const email = 'new-driver@mail.example';
    await page.getByRole('link', { name: 'Create an account' }).click();
    await page.getByLabel('Email').fill(email);
    await press(page, 'Send link');
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
    await page.goto((await smtp.mailTo(email)).link);
    await page.getByLabel('Name').fill('Zoë Driver');
    await page.getByLabel('Password', { exact: true }).fill(NEW_PASSWORD);
    await page.getByLabel('Repeat password').fill(NEW_PASSWORD);
    await press(page, 'Create account');
    await useNewPassword(email);
    expect(await page.getByRole('region', { name: 'Logged in user' }).innerText()).toContain('Zoë Driver');
  });

  it('an address is confirmed', async () => {
    const user = await service.make.user({ password: NEW_PASSWORD });
    await logIn(page, user, NEW_PASSWORD);
    await page.goto(`${service.url}/account/email`);
    await press(page, 'Send link');
    await page.getByRole('status').waitFor();
    await page.goto((await smtp.mailTo(user.email)).link);
    await press(page, 'Confirm address');
    await page.getByRole('heading', { name: 'Your address has been confirmed' }).waitFor();
  });

  describe('the mail itself', () => {
    const NAME = 'Elektrofahrzeugladedatenauswertungsgesellschaft'.repeat(2).slice(0, 100);
    const FOOTER = 'You get this mail because';

    it.each([
      ['in its own colours', null, false],
      ['in the colours and with the logos of a company and an application', '#5b21b6', true],
    ])(
      '%s: axe finds nothing, in light and dark; it never scrolls sideways at 320 px, and fetches nothing',
      async (_name, accentColor, hasLogos) => {
        const client = await service.make.client({ name: NAME });
        await service.app.get(BrandService).change({ ...PLAIN_BRAND, accentColor }, SERVICE_ACTOR);
        if (hasLogos) await showLogo(service, client);
        const user = await service.make.user({ emailVerified: true });
        const { logoId } = await service.app.get(ClientsService).get(client.id);
        await service.app
          .get(Transactions)
          .run(() =>
            service.app
              .get(NotificationsService)
              .raise(
                user.id,
                null,
                MESSAGES.refreshTokenReplayed(client.name, { logoId, organisation: NAME }),
              ),
          );
        const { html } = await smtp.mailTo(user.email);
        const mail = await browser.newPage();
        const requests: string[] = [];
        mail.on('request', (request) => requests.push(request.url()));
        await mail.setContent(html);
        expect(requests.filter((url) => !url.startsWith('data:') && url !== 'about:blank')).toEqual([]);
        await mail.getByText(FOOTER).waitFor();
        const widths = await mail
          .locator('img')
          .evaluateAll((images) => images.map((image) => (image as HTMLImageElement).naturalWidth));
        expect(widths).toEqual(hasLogos ? [48, 48] : []);

        for (const colorScheme of ['light', 'dark'] as const) {
          await mail.emulateMedia({ colorScheme });
          await mail.setViewportSize({ width: 1280, height: 800 });
          await expectAccessible(mail, { colorScheme });
          const background = await mail
            .locator('main')
            .evaluate((card) => getComputedStyle(card).backgroundColor);
          expect(background).toBe(colorScheme === 'light' ? 'rgb(255, 255, 255)' : 'rgb(18, 31, 28)');
        }
        await mail.setViewportSize({ width: 320, height: 640 });
        await expectNoSidewaysScroll(mail);
      },
    );
  });
});

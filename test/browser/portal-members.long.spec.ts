import type { Page } from 'playwright-core';
import { PASSWORD, REDIRECT_URI } from '../support/factory.js';
import { madeForEach } from '../support/made.js';
import { useServiceWithMail } from '../support/set-up.js';
import {
  followFirst,
  logIn,
  mainOf,
  openVisitorMenu,
  press,
  saidFirst,
  WITH_AND_WITHOUT_SCRIPTS,
} from './page-actions.js';
import { answersWith, useBrowser } from './use-browser.js';

describe('in the webhook portal in a browser', () => {
  const { service, smtp } = useServiceWithMail();
  const browser = useBrowser(answersWith(400, 401));
  const owner = madeForEach(() =>
    service.make.user({ name: 'Northwind Energy', kind: 'organisation', emailVerified: true }),
  );
  const client = madeForEach(() => service.make.client({ name: 'Northwind Charging', ownerId: owner.id }));

  const openPortal = async (page: Page, email: string): Promise<void> => {
    await page.goto(`${service.url}/portal/sign-in`);
    await logIn(page, { email });
    await press(page, 'Open Northwind Charging');
    await page.waitForURL(`${service.url}/portal`);
  };

  it.each(WITH_AND_WITHOUT_SCRIPTS)(
    'an admin invites a developer, who creates an account and works there; and rotates the secret, and asks for a redirect URI that an operator approves: %s',
    async (_what, javaScript) => {
      const admin = await browser.newPage({ javaScriptEnabled: javaScript });
      await openPortal(admin, owner.email);
      await followFirst(admin, 'Members');
      const email = `dana${javaScript ? 1 : 2}@northwind.example`;
      await admin.getByLabel('Email').fill(email);
      await admin.getByLabel('Role').selectOption('developer');
      await press(admin, 'Invite');
      expect(await saidFirst(admin)).toContain('We sent an invitation');

      const developer = await browser.newPage({ javaScriptEnabled: javaScript });
      await developer.goto((await smtp.mailTo(email)).link);
      expect(await mainOf(developer)).toContain('Northwind Energy');
      await developer.getByLabel('Name').fill('Dana Developer');
      await developer.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await developer.getByLabel('Repeat password').fill(PASSWORD);
      await press(developer, 'Create account');
      await openPortal(developer, email);
      expect(await developer.locator('.visitor').textContent()).toContain('With the role developer');
      await followFirst(developer, 'Add endpoint');
      await followFirst(developer, 'Credentials');
      expect(await developer.getByRole('button', { name: 'Rotate secret' }).count()).toBe(0);
      await followFirst(developer, 'Requests');
      expect(await mainOf(developer)).toContain('There are no such requests');

      await followFirst(admin, 'Credentials');
      await admin.getByLabel('Keep the old secret for').selectOption({ label: '7 days' });
      await press(admin, 'Rotate secret');
      const secret = await admin.locator('[data-copy]').innerText();
      for (const each of [secret, client.secret]) {
        const by = { id: client.id, secret: each };
        expect((await service.http.token({ grant_type: 'client_credentials' }, by)).status).toBe(200);
      }
      await followFirst(admin, 'I have copied it');
      await admin.getByRole('button', { name: /^End now/ }).click();
      expect(await saidFirst(admin)).toContain('The secret has ended.');

      await followFirst(admin, 'Redirect URIs');
      await admin.getByLabel('Redirect URI').fill('https://northwind.example/callback');
      await press(admin, 'Ask for a redirect URI');
      expect(await saidFirst(admin)).toContain('waits for an operator');
      const operator = await browser.newPage({ javaScriptEnabled: javaScript });
      await operator.goto(`${service.url}/admin/console`);
      await logIn(operator, await service.make.user({ role: 'operator' }));
      await followFirst(operator, 'View redirect URIs');
      await operator
        .getByRole('link', { name: /northwind\.example/ })
        .first()
        .click();
      expect(await mainOf(operator)).toContain(REDIRECT_URI);
      await press(operator, 'Approve');
      expect(await saidFirst(operator)).toContain('Approved');
      await followFirst(admin, 'Redirect URIs');
      expect(await mainOf(admin)).toContain('Approved');

      await followFirst(admin, 'Members');
      await followFirst(admin, 'Remove Dana Developer');
      await press(admin, 'Remove');
      expect(await saidFirst(admin)).toBe('Member removed.');
      await developer.reload();
      expect(await mainOf(developer)).toContain('You are not logged in');
    },
  );

  it('a member finds by a key why a request was refused, and gets there on a phone, without JavaScript, from the menu', async () => {
    const refused = await service.http.token(
      { grant_type: 'client_credentials' },
      { id: client.id, secret: 'x'.repeat(43) },
    );
    const id = refused.headers.get('x-request-id')!;
    const path = `${service.url}/portal/requests/${id}`;
    const page = await browser.newPage({ javaScriptEnabled: true });
    await openPortal(page, owner.email);
    await page.keyboard.press('/');
    await page.waitForURL('**/portal/search');
    await page.keyboard.press('/');
    await page.keyboard.type(id);
    await page.keyboard.press('Enter');
    await page.waitForURL(path);
    expect(await page.getByRole('region', { name: 'Why it was refused' }).innerText()).toContain(
      'Wrong secret',
    );

    await service.make.client({ name: 'Northwind Fleet', ownerId: owner.id });
    const phone = await browser.newPage({ javaScriptEnabled: false });
    await phone.setViewportSize({ width: 390, height: 844 });
    await openPortal(phone, owner.email);
    const link = phone.getByRole('link', { name: 'Search', exact: true });
    expect(await link.isVisible()).toBe(false);
    await phone.getByText('Menu', { exact: true }).click();
    await link.click();
    await phone.getByLabel('The ID of a request').fill(id);
    await press(phone, 'Search');
    await phone.waitForURL(path);
    await phone.setViewportSize({ width: 1280, height: 800 });
    expect([await link.isVisible(), await phone.getByText('Menu', { exact: true }).isVisible()]).toEqual([
      true,
      false,
    ]);
    await openVisitorMenu(phone);
    await press(phone, 'Switch to Northwind Fleet');
    await phone.waitForURL(`${service.url}/portal`);
    expect(await phone.getByLabel('Portal owner').innerText()).toContain('Northwind Fleet');
  });
});

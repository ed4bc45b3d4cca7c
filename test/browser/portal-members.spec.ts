import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import { PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { MailServer } from '../support/mail-server.js';
import { startService, type TestService } from '../support/test-service.js';
import { launchChromium } from './chromium.js';

describe('in the partner portal in a browser', () => {
  let service: TestService;
  let smtp: MailServer;
  let browser: Browser;
  let owner: UserEntity;
  let client: TestClient;
  const contexts: BrowserContext[] = [];

  beforeAll(async () => {
    smtp = await MailServer.start();
    service = await startService({ env: smtp.env });
    browser = await launchChromium();
  });
  beforeEach(async () => {
    owner = await service.make.user({ name: 'Northwind Energy', kind: 'organisation', emailVerified: true });
    client = await service.make.client({ name: 'Northwind Charging', ownerId: owner.id });
  });
  afterEach(async () => {
    for (const each of contexts.splice(0)) await each.close();
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
    await smtp.stop();
  });

  const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();
  const follow = (page: Page, name: string) => page.getByRole('link', { name, exact: true }).first().click();
  const main = (page: Page) => page.getByRole('main').innerText();
  const said = (page: Page) => page.getByRole('status').first().innerText();
  const newPage = async (javaScriptEnabled: boolean): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled });
    contexts.push(context);
    return context.newPage();
  };
  const logIn = async (page: Page, email: string): Promise<void> => {
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password').fill(PASSWORD);
    await press(page, 'Log in');
  };
  const openPortal = async (page: Page, email: string): Promise<void> => {
    await page.goto(`${service.url}/portal/sign-in`);
    await logIn(page, email);
    await press(page, 'Open Northwind Charging');
    await page.waitForURL(`${service.url}/portal`);
  };

  it.each([
    ['with JavaScript', true],
    ['with JavaScript switched off', false],
  ])(
    'an admin invites a developer, who creates an account and works there; and rotates the secret, and asks for a redirect URI that an operator approves: %s',
    async (_what, javaScript) => {
      const admin = await newPage(javaScript);
      await openPortal(admin, owner.email);
      await follow(admin, 'Members');
      const email = `dana${javaScript ? 1 : 2}@northwind.example`;
      await admin.getByLabel('Email').fill(email);
      await admin.getByLabel('Role').selectOption('developer');
      await press(admin, 'Invite');
      expect(await said(admin)).toContain('We sent an invitation');

      const developer = await newPage(javaScript);
      await developer.goto((await smtp.mailTo(email)).link);
      expect(await main(developer)).toContain('Northwind Energy');
      await developer.getByLabel('Name').fill('Dana Developer');
      await developer.getByLabel('Password', { exact: true }).fill(PASSWORD);
      await developer.getByLabel('Repeat password').fill(PASSWORD);
      await press(developer, 'Create account');
      await openPortal(developer, email);
      expect(await main(developer)).toContain('with the role developer');
      await follow(developer, 'Add endpoint');
      await follow(developer, 'Credentials');
      expect(await developer.getByRole('button', { name: 'Rotate secret' }).count()).toBe(0);
      await follow(developer, 'Requests');
      expect(await main(developer)).toContain('There are no such requests');

      await follow(admin, 'Credentials');
      await admin.getByLabel('Keep the old secret for').selectOption({ label: '7 days' });
      await press(admin, 'Rotate secret');
      const secret = await admin.locator('[data-copy]').innerText();
      for (const each of [secret, client.secret]) {
        const by = { id: client.id, secret: each };
        expect((await service.http.token({ grant_type: 'client_credentials' }, by)).status).toBe(200);
      }
      await follow(admin, 'I have copied it');
      await admin.getByRole('button', { name: /^End now/ }).click();
      expect(await said(admin)).toContain('The secret has ended.');

      await follow(admin, 'Redirect URIs');
      await admin.getByLabel('Redirect URI').fill('https://northwind.example/callback');
      await press(admin, 'Ask for a redirect URI');
      expect(await said(admin)).toContain('waits for an operator');
      const operator = await newPage(javaScript);
      await operator.goto(`${service.url}/admin/console`);
      await logIn(operator, (await service.make.user({ role: 'operator' })).email);
      await follow(operator, 'View redirect URIs');
      await operator
        .getByRole('link', { name: /northwind\.example/ })
        .first()
        .click();
      expect(await main(operator)).toContain(REDIRECT_URI);
      await press(operator, 'Approve');
      expect(await said(operator)).toContain('Approved');
      await follow(admin, 'Redirect URIs');
      expect(await main(admin)).toContain('Approved');

      await follow(admin, 'Members');
      await follow(admin, 'Remove Dana Developer');
      await press(admin, 'Remove');
      expect(await said(admin)).toBe('Member removed.');
      await developer.reload();
      expect(await main(developer)).toContain('You are not logged in');
    },
  );

  it('a member finds by a key why a request was refused, and gets there on a phone, without JavaScript, from the menu', async () => {
    const refused = await service.http.token(
      { grant_type: 'client_credentials' },
      { id: client.id, secret: 'x'.repeat(43) },
    );
    const id = refused.headers.get('x-request-id')!;
    const path = `${service.url}/portal/requests/${id}`;
    const page = await newPage(true);
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
    const phone = await newPage(false);
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
    await phone.getByText('Switch client').click();
    await press(phone, 'Switch to Northwind Fleet');
    await phone.waitForURL(`${service.url}/portal`);
    expect(await phone.getByLabel('Portal owner').innerText()).toContain('Northwind Fleet');
  });
});

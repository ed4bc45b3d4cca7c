import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { UserEntity } from '../../src/users/user.entity.js';
import { PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { isAccepted } from '../support/oauth.js';
import { startService, type TestService } from '../support/test-service.js';
import { launchChromium } from './chromium.js';

describe('the console in a browser', () => {
  let service: TestService;
  let browser: Browser;
  let operator: UserEntity;
  let client: TestClient;
  const contexts: { context: BrowserContext; complaints: string[] }[] = [];

  beforeAll(async () => {
    service = await startService();
    browser = await launchChromium();
  }, 120_000);
  beforeEach(async () => {
    operator = await service.make.user({ name: 'Olga Operator', role: 'operator' });
    client = await service.make.client({ name: `Voltwise ${operator.id.slice(-4)}` });
  });
  afterEach(async () => {
    for (const { context } of contexts) await context.close();
    const complaints = contexts.splice(0).flatMap((each) => each.complaints);
    expect(complaints).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    await service.stop();
  });

  const press = (page: Page, name: string): Promise<void> =>
    page.getByRole('button', { name, exact: true }).click();
  const follow = (page: Page, name: string): Promise<void> =>
    page.getByRole('link', { name, exact: true }).first().click();
  const headingOf = (page: Page): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();
  const said = (page: Page): Promise<string> => page.getByRole('status').innerText();
  const factOf = (page: Page, name: string): Promise<string> =>
    page.locator('.facts > div').filter({ hasText: name }).locator('dd').first().innerText();
  /** A browser of its own, signed in by the way to the console, that writes down every complaint. */
  const newPage = async (javaScriptEnabled: boolean): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled });
    const complaints: string[] = [];
    contexts.push({ context, complaints });
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('requestfailed', (request) => complaints.push(`failed: ${request.url()}`));
    page.on('console', (message) => {
      if (/the server responded with a status of (400|404)/.test(message.text())) return;
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    await page.goto(`${service.url}/admin/console`);
    await page.getByLabel('Email').fill(operator.email);
    await page.getByLabel('Password').fill(PASSWORD);
    await press(page, 'Log in');
    await page.waitForURL(`${service.url}/admin/console`);
    return page;
  };
  const tokenFor = (id: string, secret: string) =>
    service.http.token({ grant_type: 'client_credentials' }, { id, secret });
  const findClient = async (page: Page): Promise<void> => {
    await follow(page, 'Clients');
    await page.getByLabel('Part of the name').fill(client.name.slice(2));
    await press(page, 'Search');
    await follow(page, client.name);
  };

  describe.each([
    ['with JavaScript', true],
    ['with JavaScript switched off', false],
  ])('%s', (_what, javaScript) => {
    it('an operator registers a client, is told of a mistake first, and gets a secret that works', async () => {
      const owner = await service.make.user({ kind: 'organisation' });
      const page = await newPage(javaScript);
      await follow(page, 'Clients');
      await follow(page, 'Register a client');
      await page.getByLabel('Name', { exact: true }).fill('Northwind');
      await page.getByLabel('Owner').fill(owner.email);
      await page.getByLabel('charging_session:read').check();
      await page.getByLabel('It acts in its own name').check();
      await page.getByLabel('Redirect URIs').fill('http://app.example/callback');
      await press(page, 'Register');
      expect(await page.getByRole('alert').innerText()).toContain('Nothing was changed');
      expect(await page.getByLabel('Redirect URIs').getAttribute('aria-invalid')).toBe('true');
      expect(await page.getByLabel('charging_session:read').isChecked()).toBe(true);
      await page.getByLabel('Redirect URIs').fill(REDIRECT_URI);
      await press(page, 'Register');
      expect(await headingOf(page)).toBe('The client is registered');
      const [id, secret] = [await factOf(page, 'Client id'), await factOf(page, 'Client secret')];
      expect((await tokenFor(id, secret)).status).toBe(200);
      await follow(page, 'I have copied it');
      expect(await headingOf(page)).toBe('Northwind');
      expect(await page.content()).not.toContain(secret);
    });

    it('an operator rotates a secret: both count for a while', async () => {
      const page = await newPage(javaScript);
      await findClient(page);
      await follow(page, 'Rotate the secret');
      expect(await page.getByLabel('One day').isChecked()).toBe(true);
      await page.getByLabel('One hour').check();
      await press(page, 'Make a new secret');
      const secret = await factOf(page, 'Client secret');
      expect(await factOf(page, 'The secrets before it')).toContain('count until');
      for (const each of [secret, client.secret]) expect((await tokenFor(client.id, each)).status).toBe(200);
    });

    it('an operator finds why a partner gets 401', async () => {
      expect((await tokenFor(client.id, 'x'.repeat(43))).status).toBe(401);
      const page = await newPage(javaScript);
      await findClient(page);
      await follow(page, 'Refusals');
      const row = page.getByRole('row').filter({ hasText: 'Wrong secret' });
      expect(await row.innerText()).toContain('401 invalid_client');
      expect(await row.innerText()).toContain('rotate the secret');
      expect(await row.innerText()).toContain('127.0.0.1');
    });

    it('an operator disconnects an application from a user who asks for that', async () => {
      const user = await service.make.user({ name: 'Dana Driver' });
      const tokens = await service.make.tokens(client, user);
      const page = await newPage(javaScript);
      await follow(page, 'Users');
      await page.getByLabel('Part of the name').fill(user.email);
      await press(page, 'Search');
      await follow(page, 'Dana Driver');
      await follow(page, 'Applications');
      await follow(page, `Disconnect ${client.name}`);
      expect(await isAccepted(service.http, tokens.access_token)).toBe(true);
      await press(page, 'Disconnect');
      expect(await said(page)).toBe('The application is disconnected from this user.');
      expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
      expect(await page.getByRole('main').innerText()).toContain('shares data with no application');
    });

    it('an operator gives the password again before deleting a client, and is led back', async () => {
      const page = await newPage(javaScript);
      await service.database.query(
        "UPDATE sessions SET created_at = now() - interval '16 minutes' WHERE user_id = $1",
        [operator.id],
      );
      await findClient(page);
      await follow(page, 'Delete');
      expect(await headingOf(page)).toBe('Your password, please');
      await page.getByLabel('Password').fill('wrong horse battery staple');
      await press(page, 'Go on');
      expect(await page.getByRole('main').innerText()).toContain('This is not your password.');
      await page.getByLabel('Password').fill(PASSWORD);
      await press(page, 'Go on');
      expect(await headingOf(page)).toBe('Delete the client');
      await press(page, 'Delete the client');
      expect(await said(page)).toBe('The client is deleted.');
      await follow(page, 'Audit trail');
      await page.getByLabel('On what').fill(client.id);
      await press(page, 'Filter');
      expect(await page.getByRole('table').innerText()).toContain('client.deleted');
    });
  });

  it('is used by keyboard alone, and every stop on the way shows', async () => {
    const page = await newPage(true);
    const tabTo = async (name: string): Promise<void> => {
      for (let stop = 0; stop < 40; stop++) {
        await page.keyboard.press('Tab');
        const now = await page.evaluate(() => {
          const element = document.activeElement as HTMLInputElement;
          const { outlineStyle, outlineWidth } = getComputedStyle(element);
          const label = element.labels?.[0]?.textContent ?? element.textContent;
          return { label, outlined: outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2 };
        });
        expect(now).toMatchObject({ outlined: true });
        if (now.label.includes(name)) return;
      }
      throw new Error(`no stop at ${name}`);
    };
    await tabTo('Clients');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/clients');
    await tabTo('Part of the name');
    await page.keyboard.type(client.name);
    await page.keyboard.press('Enter');
    await page.waitForURL('**/clients?q=*');
    await tabTo(client.name);
    await page.keyboard.press('Enter');
    await page.waitForURL(`**/clients/${client.id}`);
    await tabTo('Rotate the secret');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/secret');
    await tabTo('One day');
    await page.keyboard.press('ArrowUp');
    await tabTo('Make a new secret');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'The new secret' }).waitFor();
    const secret = await factOf(page, 'Client secret');
    expect((await tokenFor(client.id, secret)).status).toBe(200);
  });
});

import type { Page } from 'playwright-core';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import type { Answer } from '../support/http.js';
import { madeForEach } from '../support/made.js';
import { isAccepted } from '../support/oauth.js';
import { useService, type TestService } from '../support/test-service.js';
import { signIn } from './every-page.js';
import { followFirst, headingOf, logIn, press, said } from './page-actions.js';
import { answersWith, useBrowser } from './use-browser.js';

const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };

export interface ConsoleInBrowser {
  service: TestService;
  operator: UserEntity;
  client: TestClient;
  /** The console in a new browser that has signed in before. */
  newPage(javaScriptEnabled: boolean, viewport?: typeof DESKTOP): Promise<Page>;
  /** A page in a new browser, signed in on the way to the console. */
  logInOnTheWay(javaScriptEnabled: boolean): Promise<Page>;
  findClient(page: Page): Promise<void>;
  tokenFor(id: string, secret: string): Promise<Answer>;
}

/** For the tests of a `describe`: an operator, a client and browsers. The service is its own, because tests add to the event types. */
export function useConsole(): ConsoleInBrowser {
  const service = useService();
  const browser = useBrowser(answersWith(400, 404));
  const operator = madeForEach(() => service.make.user({ name: 'Olga Operator', role: 'operator' }));
  const client = madeForEach(() => service.make.client({ name: `Voltwise ${operator.id.slice(-4)}` }));

  const newPage = async (javaScriptEnabled: boolean, viewport = DESKTOP): Promise<Page> => {
    const page = await browser.newPage({ javaScriptEnabled, viewport });
    await signIn(service, page, operator);
    await page.goto(`${service.url}/admin/console`);
    return page;
  };
  const logInOnTheWay = async (javaScriptEnabled: boolean): Promise<Page> => {
    const page = await browser.newPage({ javaScriptEnabled, viewport: DESKTOP });
    await page.goto(`${service.url}/admin/console`);
    await logIn(page, operator);
    await page.waitForURL(`${service.url}/admin/console`);
    return page;
  };
  const findClient = async (page: Page): Promise<void> => {
    await followFirst(page, 'Clients');
    await page.getByLabel('Part of the name').fill(client.name.slice(2));
    await press(page, 'Search');
    await followFirst(page, client.name);
  };
  const tokenFor = (id: string, secret: string): Promise<Answer> =>
    service.http.token({ grant_type: 'client_credentials' }, { id, secret });
  return { service, operator, client, newPage, logInOnTheWay, findClient, tokenFor };
}

const factOf = (page: Page, name: string): Promise<string> =>
  page.locator('.facts > div').filter({ hasText: name }).locator('dd').first().innerText();

/** The secret that the page shows once. */
export const secretOn = (page: Page): Promise<string> => page.locator('code.secret').innerText();

/** The first ways of an operator through the console, as tests; each is the same with scripts and without. */
export function consoleWays(
  { service, client, newPage, logInOnTheWay, tokenFor }: ConsoleInBrowser,
  javaScript: boolean,
): void {
  it('an operator first makes a mistake, then registers a client, and gets a working secret', async () => {
    const owner = await service.make.user({ kind: 'organisation' });
    const page = await logInOnTheWay(javaScript);
    await followFirst(page, 'Clients');
    await followFirst(page, 'Create client');
    await page.getByLabel('Name', { exact: true }).fill('Northwind');
    await page.getByLabel('Owner').fill(owner.email);
    await page.getByLabel('charging_session:read').check();
    await page.getByLabel('It acts on its own behalf').check();
    await page.getByLabel('Redirect URIs').fill('http://app.example/callback');
    await press(page, 'Create client');
    expect(await page.getByRole('alert').innerText()).toContain('Nothing was changed');
    expect(await page.getByLabel('Redirect URIs').getAttribute('aria-invalid')).toBe('true');
    expect(await page.getByLabel('charging_session:read').isChecked()).toBe(true);
    await page.getByLabel('Redirect URIs').fill(REDIRECT_URI);
    await press(page, 'Create client');
    expect(await headingOf(page)).toBe('Client created');
    const [id, secret] = [await factOf(page, 'Client ID'), await secretOn(page)];
    expect((await tokenFor(id, secret)).status).toBe(200);
    await followFirst(page, 'I have copied it');
    expect(await headingOf(page)).toBe('Northwind');
    expect(await page.content()).not.toContain(secret);
  });

  describe('on a phone,', () => {
    it('an operator unfolds the filter, and opens a client by the second line of its row', async () => {
      const page = await newPage(javaScript, PHONE);
      await page.goto(`${service.url}/admin/console/clients`);
      const field = page.getByLabel('Part of the name');
      expect(await field.isVisible()).toBe(false);
      await page.locator('.filter > summary').click();
      await field.fill(client.name);
      await press(page, 'Search');
      expect(await page.locator('.filter > summary').innerText()).toContain(client.name);
      expect(await field.isVisible()).toBe(false);
      const row = page.getByRole('row').filter({ hasText: client.name });
      const { width, height } = (await row.boundingBox())!;
      await row.click({ position: { x: width - 5, y: height - 5 } });
      await page.waitForURL(`**/clients/${client.id}`);
    });

    it('an operator unfolds what was changed, and folds it up again, with the keyboard, too', async () => {
      await service.make.updateClient(client, { name: `${client.name} renamed` });
      const page = await newPage(javaScript, PHONE);
      await page.goto(`${service.url}/admin/console/audit?subject=${client.id}&action=client.updated`);
      const row = page.getByRole('row').filter({ hasText: 'client.updated' });
      const change = row.locator('.changes .is', { hasText: `${client.name} renamed` });
      expect(await change.isVisible()).toBe(false);
      const { width, height } = (await row.boundingBox())!;
      expect(height).toBeLessThan(70);
      await row.click({ position: { x: width / 2, y: 10 } });
      await row.locator('.changes summary').press('Enter');
      expect(await change.isVisible()).toBe(true);
      await row.locator('.unfold summary').press('Enter');
      expect(await change.isVisible()).toBe(false);
    });
  });
}

/** Further ways, each step of which test/e2e shows over HTTP too. */
export function furtherConsoleWays(
  { service, operator, client, newPage, findClient, tokenFor }: ConsoleInBrowser,
  javaScript: boolean,
): void {
  it('an operator rotates a secret, and both are valid for a while', async () => {
    const page = await newPage(javaScript);
    await findClient(page);
    await followFirst(page, 'Rotate secret');
    expect(await page.getByLabel('One day').isChecked()).toBe(true);
    await page.getByLabel('One hour').check();
    await press(page, 'Create new secret');
    const secret = await secretOn(page);
    expect(await factOf(page, 'Previous secrets')).toContain('valid until');
    for (const each of [secret, client.secret]) expect((await tokenFor(client.id, each)).status).toBe(200);
  });

  it('an operator finds out why a partner gets 401', async () => {
    expect((await tokenFor(client.id, 'x'.repeat(43))).status).toBe(401);
    const page = await newPage(javaScript);
    await findClient(page);
    await followFirst(page, 'Refusals');
    const row = page.getByRole('row').filter({ hasText: 'Wrong secret' });
    expect(await row.innerText()).toContain('401 invalid_client');
    expect(await row.innerText()).toContain('rotate the secret');
    expect(await row.innerText()).toContain('127.0.0.1');
  });

  it('an operator disconnects an application from a user on request', async () => {
    const user = await service.make.user({ name: 'Dana Driver' });
    const tokens = await service.make.tokens(client, user);
    const page = await newPage(javaScript);
    await followFirst(page, 'Users');
    await page.getByLabel('Part of the name').fill(user.email);
    await press(page, 'Search');
    await followFirst(page, 'Dana Driver');
    await followFirst(page, 'Connected clients');
    await followFirst(page, `Disconnect ${client.name}`);
    expect(await isAccepted(service.http, tokens.access_token)).toBe(true);
    await press(page, 'Disconnect');
    expect(await said(page)).toBe('Client disconnected from this user.');
    expect(await isAccepted(service.http, tokens.access_token)).toBe(false);
    expect(await page.getByRole('main').innerText()).toContain('shares no data with any client');
  });

  it('an operator enters the password again before deleting a client, and returns to that page', async () => {
    const page = await newPage(javaScript);
    await service.database.query(
      "UPDATE sessions SET created_at = now() - interval '16 minutes' WHERE user_id = $1",
      [operator.id],
    );
    await findClient(page);
    await followFirst(page, 'Delete');
    expect(await headingOf(page)).toBe('Confirm your password');
    await page.getByLabel('Password').fill('wrong horse battery staple');
    await press(page, 'Continue');
    expect(await page.getByRole('main').innerText()).toContain('This is not your password.');
    await page.getByLabel('Password').fill(PASSWORD);
    await press(page, 'Continue');
    expect(await headingOf(page)).toBe('Delete client');
    await press(page, 'Delete client');
    expect(await said(page)).toBe('Client deleted.');
    await followFirst(page, 'Audit log');
    await page.getByLabel('Subject').fill(client.id);
    await press(page, 'Filter');
    expect(await page.getByRole('table').innerText()).toContain('deleted client');
  });
}

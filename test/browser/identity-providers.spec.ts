import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { authorizePath } from '../support/browser-session.js';
import type { TestClient } from '../support/factory.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { startService, type TestService } from '../support/test-service.js';
import { launchChromium } from './chromium.js';

const STAFF = {
  ...{ id: 'staff', label: 'Example Staff', audience: ['operators'], scope: 'openid email profile groups' },
  ...{ accounts: 'create', role_claim: 'groups', roles: { admins: 'admin' } },
};

const press = (page: Page, name: string): Promise<void> =>
  page.getByRole('button', { name, exact: true }).click();
const headingIs = (page: Page, name: string): Promise<void> =>
  page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

const addPeople = (idp: IdentityProvider): void => {
  idp.people.set('dana', { email: 'dana@mail.example', email_verified: true, name: 'Dana Driver' });
  idp.people.set('olga', {
    ...{ email: 'olga@mail.example', email_verified: true, name: 'Olga Operator' },
    groups: ['admins'],
  });
};

describe('With identity providers in a browser', () => {
  let idp: IdentityProvider;
  let service: TestService;
  let browser: Browser;
  let client: TestClient;
  let app: Server;
  let redirectUri: string;
  const contexts: { context: BrowserContext; complaints: string[] }[] = [];

  beforeAll(async () => {
    idp = await IdentityProvider.open();
    service = await startService({ env: idp.env({}, STAFF) });
    idp.serveTo(service.url, ['company', 'staff']);
    addPeople(idp);
    app = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<link rel="icon" href="data:,"><h1>My app</h1>');
    });
    await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve));
    redirectUri = `http://127.0.0.1:${(app.address() as AddressInfo).port}/callback`;
    client = await service.make.client({ name: 'Northwind Smart Charging', redirectUris: [redirectUri] });
    browser = await launchChromium();
  });
  afterEach(async () => {
    for (const { context } of contexts) await context.close();
    const complaints = contexts.splice(0).flatMap((each) => each.complaints);
    expect(complaints).toEqual([]);
  });
  afterAll(async () => {
    await browser.close();
    app.close();
    await service.stop();
    await idp.close();
  });

  /** A page in a new browser, which records what it complains about: a violated policy, a script's error. */
  const newPage = async (javaScriptEnabled: boolean): Promise<Page> => {
    const context = await browser.newContext({ javaScriptEnabled });
    const complaints: string[] = [];
    contexts.push({ context, complaints });
    const page = await context.newPage();
    page.on('pageerror', (error) => complaints.push(String(error)));
    page.on('console', (message) => {
      if (message.location().url.startsWith(idp.url)) return;
      if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
    });
    return page;
  };
  const consentUrl = (to: TestClient) =>
    service.url +
    authorizePath({ response_type: 'code', client_id: to.id, redirect_uri: redirectUri, state: 's1' });

  describe.each([
    ['with JavaScript', true],
    ['with JavaScript switched off', false],
  ])('%s', (_what, javaScript) => {
    it('a driver logs in at the provider on the way to an app, agrees, disconnects the app and logs out', async () => {
      const page = await newPage(javaScript);
      await page.goto(consentUrl(client));
      await headingIs(page, 'Log in');
      await press(page, 'Continue with Example Company');
      await press(page, 'Log in as dana');
      await press(page, 'Authorize');
      await headingIs(page, 'My app');
      expect(new URL(page.url()).searchParams.get('code')).toMatch(/^cds_ac_/);

      await page.goto(`${service.url}/account`);
      await page.getByText('dana@mail.example').waitFor();
      await page.getByRole('link', { name: 'Disconnect Northwind Smart Charging' }).click();
      await press(page, 'Disconnect');
      await page.getByText('Application disconnected.').waitFor();

      await press(page, 'Log out');
      await press(page, 'Log out there');
      await headingIs(page, 'Log in');
      expect(page.url()).toBe(`${service.url}/login`);
    });

    it('a driver who is logged in there comes to the consent page with one press', async () => {
      const app = await service.make.client({ redirectUris: [redirectUri] });
      const page = await newPage(javaScript);
      await page.goto(`${service.url}/login`);
      await press(page, 'Continue with Example Company');
      await press(page, 'Log in as dana');
      await page.waitForURL(`${service.url}/account`);
      await page.context().clearCookies({ name: 'session' });
      await page.goto(consentUrl(app));
      await press(page, 'Continue with Example Company');
      await press(page, 'Authorize');
      await headingIs(page, 'My app');
    });

    it('an operator, by the role that the provider gives, is sent there again before a dangerous action and comes back', async () => {
      const user = await service.make.user({ name: 'Gone Soon' });
      const page = await newPage(javaScript);
      await page.goto(`${service.url}/admin/console/users/${user.id}`);
      await press(page, 'Continue with Example Staff');
      await press(page, 'Log in as olga');
      await headingIs(page, 'Gone Soon');
      await page.getByText('(admin)').waitFor();
      await page.getByRole('link', { name: 'Erase', exact: true }).click();
      await headingIs(page, 'Confirm that it is you');
      await press(page, 'Continue with Example Staff');
      await press(page, 'Log in as olga');
      await page.waitForURL(`${service.url}/admin/console/users/${user.id}/erase`);
      await press(page, 'Erase user');
      await page.getByText('User erased.').waitFor();
    });
  });
});

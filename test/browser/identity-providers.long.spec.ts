import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { authorizePath } from '../support/browser-session.js';
import type { TestClient } from '../support/factory.js';
import { IdentityProvider } from '../support/identity-provider.js';
import { madeOnce } from '../support/made.js';
import { useServiceWithProvider } from '../support/set-up.js';
import { headingIs, manage, press, WITH_AND_WITHOUT_SCRIPTS } from './page-actions.js';
import { useBrowser } from './use-browser.js';

const STAFF = {
  ...{ id: 'staff', label: 'Example Staff', audience: ['operators'], scope: 'openid email profile groups' },
  ...{ accounts: 'create', role_claim: 'groups', roles: { admins: 'admin' } },
};

const addPeople = (idp: IdentityProvider): void => {
  idp.people.set('dana', { email: 'dana@mail.example', email_verified: true, name: 'Dana Driver' });
  idp.people.set('olga', {
    ...{ email: 'olga@mail.example', email_verified: true, name: 'Olga Operator' },
    groups: ['admins'],
  });
};

describe('With identity providers in a browser', () => {
  const idp = new IdentityProvider();
  const service = useServiceWithProvider(idp, [{}, STAFF]);
  // The provider's own pages.
  const browser = useBrowser((_complaint, url) => url.startsWith(idp.url));
  beforeAll(() => addPeople(idp));
  const app = madeOnce(async () => {
    const server = createServer((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<link rel="icon" href="data:,"><h1>My app</h1>');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
    return { server, redirectUri };
  });
  const client = madeOnce(() =>
    service.make.client({ name: 'Northwind Smart Charging', redirectUris: [app.redirectUri] }),
  );
  afterAll(() => void app.server.close());

  const newPage = (javaScriptEnabled: boolean): Promise<Page> => browser.newPage({ javaScriptEnabled });
  const consentUrl = (to: TestClient) =>
    service.url +
    authorizePath({ response_type: 'code', client_id: to.id, redirect_uri: app.redirectUri, state: 's1' });

  describe.each(WITH_AND_WITHOUT_SCRIPTS)('%s', (_what, javaScript) => {
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
      await manage(page, 'Northwind Smart Charging');
      await page.getByRole('link', { name: 'Disconnect Northwind Smart Charging' }).click();
      await press(page, 'Disconnect');
      await page.getByText('Application disconnected.').waitFor();

      await press(page, 'Log out');
      await press(page, 'Log out there');
      await headingIs(page, 'Log in');
      expect(page.url()).toBe(`${service.url}/login`);
    });

    it('a driver who is logged in there comes to the consent page with one press', async () => {
      const known = await service.make.client({ redirectUris: [app.redirectUri] });
      const page = await newPage(javaScript);
      await page.goto(`${service.url}/login`);
      await press(page, 'Continue with Example Company');
      await press(page, 'Log in as dana');
      await page.waitForURL(`${service.url}/account`);
      await page.context().clearCookies({ name: 'cds_session' });
      await page.goto(consentUrl(known));
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

describe('With a provider of another site that posts its answer', () => {
  const idp = new IdentityProvider();
  // Another site than 127.0.0.1, so that a form from there comes without the cookies of the service.
  const service = useServiceWithProvider(idp, [{ response_mode: 'form_post' }], { hostname: 'localhost' });
  const browser = useBrowser((_complaint, url) => url.startsWith(idp.url));
  beforeAll(() => addPeople(idp));

  it('a driver logs in', async () => {
    const page = await browser.newPage();
    await page.goto(`${service.url}/login?return_to=/account/security`);
    const posted = page.waitForRequest(
      (request) => request.method() === 'POST' && request.url().includes('/login/callback/'),
    );
    await press(page, 'Continue with Example Company');
    await press(page, 'Log in as dana');
    expect((await (await posted).allHeaders()).cookie).toBeUndefined();
    await page.waitForURL(`${service.url}/account/security`);
    await page.getByText('dana@mail.example').first().waitFor();
  });
});

import type { Server } from 'node:http';
import type { Page } from 'playwright-core';
import { authorizePath } from '../support/browser-session.js';
import { PASSWORD } from '../support/factory.js';
import { serve, SpreadIdentityProvider } from '../support/spread-identity-provider.js';
import { startService, type TestService } from '../support/test-service.js';
import { headingIs, press, WITH_AND_WITHOUT_SCRIPTS } from './page-actions.js';
import { useBrowser } from './use-browser.js';

const STAFF = {
  ...{ id: 'staff', label: 'Example Staff', audience: ['operators'], scope: 'openid email profile groups' },
  ...{ accounts: 'create', role_claim: 'groups', roles: { admins: 'admin' } },
};

describe('Leaving this service for a site that redirects on to other origins', () => {
  let idp: SpreadIdentityProvider;
  let service: TestService;
  const partners: Server[] = [];
  let redirectUri: string;
  const browser = useBrowser(
    (complaint, url) =>
      idp.has(url || service.url) ||
      // An icon of Pico's, if it is laid out before our own style sheet, which leaves it out, has arrived.
      complaint.startsWith("Loading the image 'data:image/svg+xml"),
  );

  const addPeople = ({ issuer }: SpreadIdentityProvider): void => {
    issuer.people.set('dana', { email: 'dana@mail.example', email_verified: true, name: 'Dana Driver' });
    issuer.people.set('olga', {
      ...{ email: 'olga@mail.example', email_verified: true, name: 'Olga Operator' },
      groups: ['admins'],
    });
  };
  /** A service of its own with a provider of its own, started for this test. */
  const withNewService = async (
    env: Record<string, string>,
    work: (url: string) => Promise<void>,
  ): Promise<void> => {
    const provider = await SpreadIdentityProvider.open();
    const started = await startService({ env: { ...provider.issuer.env({}), ...env } });
    provider.serveTo(started.url, ['company']);
    addPeople(provider);
    try {
      await work(started.url);
    } finally {
      await started.stop();
      await provider.close();
    }
  };

  beforeAll(async () => {
    idp = await SpreadIdentityProvider.open();
    addPeople(idp);
    service = await startService({ env: idp.issuer.env({}, STAFF) });
    idp.serveTo(service.url, ['company', 'staff']);
    const [app, appUrl] = await serve((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<link rel="icon" href="data:,"><h1>My app</h1>');
    }, 'localhost');
    const [callback, callbackUrl] = await serve((_request, response) => {
      response.writeHead(302, { location: appUrl }).end();
    });
    partners.push(app, callback);
    redirectUri = `${callbackUrl}/callback`;
  });
  afterAll(async () => {
    for (const partner of partners) partner.close();
    await service.stop();
    await idp.close();
  });

  const newPage = (javaScriptEnabled: boolean): Promise<Page> => browser.newPage({ javaScriptEnabled });
  const logIn = async (page: Page, path: string, provider: string, person: string): Promise<void> => {
    await page.goto(service.url + path);
    await press(page, `Continue with ${provider}`);
    await press(page, `Log in as ${person}`);
  };

  describe.each(WITH_AND_WITHOUT_SCRIPTS)('%s', (_what, javaScript) => {
    it('the first visitor after a start logs in through a provider, and out', async () => {
      const page = await newPage(javaScript);
      await withNewService({}, async (url) => {
        await page.goto(`${url}/account`);
        await press(page, 'Continue with Example Company');
        await press(page, 'Log in as dana');
        await page.waitForURL(`${url}/account`);
        await press(page, 'Log out');
        await press(page, 'Log out there');
        await headingIs(page, 'Log in');
        expect(page.url()).toBe(`${url}/login`);
        await page.goto(`${url}/account`);
        await headingIs(page, 'Log in');
      });
    });

    it('a driver authenticates there again before changing how to log in', async () => {
      const page = await newPage(javaScript);
      await logIn(page, '/account/confirm?return_to=/account/security', 'Example Company', 'dana');
      await press(page, 'Continue with Example Company');
      await press(page, 'Log in as dana');
      await page.waitForURL(`${service.url}/account/security`);
    });

    it('an operator authenticates there again before a dangerous action', async () => {
      const user = await service.make.user({ name: 'Gone Soon' });
      const path = `/admin/console/users/${user.id}`;
      const page = await newPage(javaScript);
      await logIn(page, path, 'Example Staff', 'olga');
      await page.getByRole('link', { name: 'Erase', exact: true }).click();
      await press(page, 'Continue with Example Staff');
      await press(page, 'Log in as olga');
      await page.waitForURL(`${service.url}${path}/erase`);
    });

    it('someone whose session has ended is led to the only provider by a form', async () => {
      const page = await newPage(javaScript);
      await withNewService({ PASSWORD_SIGN_IN: 'false' }, async (url) => {
        await page.goto(`${url}/account/email`);
        await press(page, 'Log in as dana');
        await page.waitForURL(`${url}/account/email`);
        await page.context().clearCookies({ name: 'cds_session' });
        // Still logged in there, the person comes back to where the form was.
        const back = page.waitForRequest((request) => request.url().startsWith(`${url}/login/callback/`));
        await press(page, 'Save');
        await back;
        await page.waitForURL(`${url}/account/email`);
      });
    });

    it('a driver agrees, and arrives at an application whose callback redirects on', async () => {
      const client = await service.make.client({ redirectUris: [redirectUri] });
      const page = await newPage(javaScript);
      const query = { response_type: 'code', client_id: client.id, redirect_uri: redirectUri };
      await logIn(page, authorizePath(query), 'Example Company', 'dana');
      await press(page, 'Authorize');
      await headingIs(page, 'My app');
    });

    it('a driver logs in with a password, and a refused request leads to an application whose callback redirects on', async () => {
      const client = await service.make.client({ redirectUris: [redirectUri] });
      const user = await service.make.user();
      const page = await newPage(javaScript);
      const query = { response_type: 'token', client_id: client.id, redirect_uri: redirectUri };
      const path = new URLSearchParams({ return_to: authorizePath(query) });
      await page.goto(`${service.url}/login?${path.toString()}`);
      await page.getByLabel('Email').fill(user.email);
      await page.getByLabel('Password').fill(PASSWORD);
      await press(page, 'Log in');
      await headingIs(page, 'My app');
    });
  });
});

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import * as openid from 'openid-client';
import type { Page } from 'playwright-core';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import { PARTNER_SCOPES, type TestClient } from '../support/factory.js';
import { madeForEach, madeOnce } from '../support/made.js';
import { useSharedService, type TestService } from '../support/test-service.js';
import { portalLink } from './every-page.js';
import { headingOf, logIn, openVisitorMenu, press } from './page-actions.js';
import { answersWith, useBrowser } from './use-browser.js';

/** A partner's application, which records the requests of the browser. */
interface Application {
  server: Server;
  redirectUri: string;
  requests: IncomingMessage[];
}

async function startApplication(): Promise<Application> {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    response.setHeader('content-type', 'text/html');
    response.end(
      '<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,"><h1>Welcome back</h1>',
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return { server, redirectUri: `http://127.0.0.1:${port}/callback`, requests };
}

/** One authorization by a third-party client library, which checks the state, the issuer and the response. */
interface Authorization {
  url: string;
  finish(callbackUrl: string): Promise<openid.TokenEndpointResponse>;
}

export interface DriverInBrowser {
  service: TestService;
  driver: UserEntity;
  /** A confidential client of the application. */
  client: TestClient;
  /** A public one. */
  app: TestClient;
  application: Application;
  newPage(javaScriptEnabled?: boolean): Promise<Page>;
  /** By default of {@link client}, for all scopes of partners. */
  begin(of?: TestClient): Promise<Authorization>;
}

/** For the tests of a `describe`: a driver, an application with its clients, and browsers. */
export function useDriver(): DriverInBrowser {
  const service = useSharedService();
  // Pages that are meant to be refused or gone.
  const browser = useBrowser(answersWith(400, 401, 404, 410));
  const application = madeOnce(startApplication);
  // The application's port is not the registered one, which is allowed on a loopback address.
  const redirectUris = ['http://127.0.0.1/callback'];
  const client = madeOnce(() => service.make.client({ name: 'Northwind Smart Charging', redirectUris }));
  const app = madeOnce(() =>
    service.make.client({ name: 'Northwind Driver App', type: 'public', redirectUris }),
  );
  const driver = madeForEach(() => service.make.user({ name: 'Dana Driver' }));
  afterAll(() => void application.server.close());

  const newPage = (javaScriptEnabled = true): Promise<Page> => browser.newPage({ javaScriptEnabled });

  const begin = async (of: TestClient = client): Promise<Authorization> => {
    const config = await openid.discovery(
      new URL(service.url),
      of.id,
      of.secret || undefined,
      of.secret ? undefined : openid.None(),
      { algorithm: 'oauth2', execute: [openid.allowInsecureRequests] },
    );
    const pkceCodeVerifier = openid.randomPKCECodeVerifier();
    const expectedState = openid.randomState();
    const url = openid.buildAuthorizationUrl(config, {
      redirect_uri: application.redirectUri,
      scope: PARTNER_SCOPES.join(' '),
      state: expectedState,
      code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    });
    return {
      url: url.href,
      finish: (callbackUrl) =>
        openid.authorizationCodeGrant(config, new URL(callbackUrl), { pkceCodeVerifier, expectedState }),
    };
  };
  return { service, driver, client, app, application, newPage, begin };
}

/** Waits until the browser is back at the application; the address that it came to. */
export const arrive = async (page: Page): Promise<string> => {
  await page.getByRole('heading', { name: 'Welcome back' }).waitFor();
  return page.url();
};

const callerOf = async ({ http }: TestService, token: string): Promise<string> =>
  (await http.get('/v2/users', { bearer: token })).json[0].id as string;

/** The first ways of a driver to an application, as tests; each is the same with scripts and without. */
export function driverWays(
  { service, driver, client, app, application, newPage, begin }: DriverInBrowser,
  javaScriptEnabled: boolean,
): void {
  it.each(['confidential', 'public'])(
    'a user logs in, authorizes a %s client and returns to its application',
    async (type) => {
      const page = await newPage(javaScriptEnabled);
      const authorization = await begin(type === 'public' ? app : client);
      await page.goto(authorization.url);
      expect(await page.title()).toContain('Log in');
      await logIn(page, driver);
      expect(await headingOf(page)).toContain('Northwind');
      await press(page, 'Authorize');
      const tokens = await authorization.finish(await arrive(page));
      expect(tokens).toMatchObject({
        token_type: 'bearer',
        scope: PARTNER_SCOPES.join(' '),
        expires_in: 36_000,
      });
      expect(await callerOf(service, tokens.access_token)).toBe(driver.id);
      expect(application.requests.at(-1)!.headers.referer).toBeUndefined();
    },
  );

  it('a user with a non-ASCII address logs in', async () => {
    const user = await service.make.user({ email: `jürgen.${javaScriptEnabled}@münchen.example` });
    const page = await newPage(javaScriptEnabled);
    await page.goto(`${service.url}/login`);
    await logIn(page, user);
    await page.waitForURL(`${service.url}/account`);
  });

  it('a portal link opens the portal once, and its key is in no Referer', async () => {
    const link = await portalLink(service, { driver, owner: driver, client });
    await (await newPage(javaScriptEnabled)).goto(link);
    const page = await newPage(javaScriptEnabled);
    const key = link.split('/').at(-1)!;
    const referers: Promise<string | undefined>[] = [];
    page.on('request', (request) => referers.push(request.allHeaders().then((headers) => headers.referer)));
    await page.goto(link);
    expect(await headingOf(page)).toContain('Northwind Smart Charging');
    await press(page, 'Open webhook portal');
    await page.waitForURL(`${service.url}/portal`);
    expect(await headingOf(page)).toBe('Overview');
    expect(await page.textContent('body')).toContain('Northwind Smart Charging');
    const sent = await Promise.all(referers);
    expect(sent.filter((referer) => referer?.includes(key))).toEqual([]);
    expect(sent.length).toBeGreaterThan(4);
    await openVisitorMenu(page);
    await press(page, 'Log out');
    expect(await headingOf(page)).toBe('You are not logged in to the webhook portal');
    expect((await page.goto(link))?.status()).toBe(410);
  });

  it('a password that is too long is refused, not truncated', async () => {
    const page = await newPage(javaScriptEnabled);
    await page.goto(await service.app.get(PasswordLinksService).create(driver.id, SERVICE_ACTOR));
    for (const label of ['New password', 'Repeat new password']) {
      await page.getByLabel(label, { exact: true }).focus();
      // As typing and pasting do: unlike `fill`, it is cut off where a field takes no more.
      await page.keyboard.insertText('p'.repeat(260));
    }
    await press(page, 'Set password');
    expect(await page.getByRole('alert').innerText()).toContain('256');
  });
}

/** Further ways, each step of which test/e2e shows over HTTP too. */
export function furtherDriverWays(
  { service, driver, newPage, begin }: DriverInBrowser,
  javaScriptEnabled: boolean,
): void {
  it('a user cancels, and the application is informed', async () => {
    const page = await newPage(javaScriptEnabled);
    const authorization = await begin();
    await page.goto(authorization.url);
    await logIn(page, driver);
    await press(page, 'Cancel');
    await expect(authorization.finish(await arrive(page))).rejects.toMatchObject({
      error: 'access_denied',
    });
  });

  it('a user mistypes the password, sees an error, and still reaches the application afterwards', async () => {
    const page = await newPage(javaScriptEnabled);
    const authorization = await begin();
    await page.goto(authorization.url);
    await logIn(page, driver, 'wrong horse battery staple');
    expect(await page.getByRole('alert').innerText()).toContain('incorrect');
    expect(await page.getByLabel('Email').inputValue()).toBe(driver.email);
    expect(await page.getByLabel('Password').inputValue()).toBe('');
    await logIn(page, driver);
    await press(page, 'Authorize');
    await authorization.finish(await arrive(page));
  });

  it('another user takes over on the consent page', async () => {
    const page = await newPage(javaScriptEnabled);
    const other = await service.make.user({ name: 'Olga Other' });
    const authorization = await begin();
    await page.goto(authorization.url);
    await logIn(page, driver);
    expect(await page.getByRole('main').innerText()).toContain('Dana Driver');
    await press(page, 'Log out');
    await logIn(page, other);
    const text = await page.getByRole('main').innerText();
    expect([text.includes('Olga Other'), text.includes('Dana Driver')]).toEqual([true, false]);
    await press(page, 'Authorize');
    const tokens = await authorization.finish(await arrive(page));
    expect(await callerOf(service, tokens.access_token)).toBe(other.id);
  });

  it('a user logs in and out on the start page', async () => {
    const page = await newPage(javaScriptEnabled);
    await page.goto(service.url);
    await page.getByRole('link', { name: 'Log in' }).click();
    await logIn(page, driver);
    expect(await page.getByRole('main').innerText()).toContain('Dana Driver');
    await press(page, 'Log out');
    expect(await headingOf(page)).toBe('Log in');
    await page.goto(service.url);
    expect(await page.getByRole('main').innerText()).not.toContain('Dana Driver');
  });

  it('a user sets a password with a link, and logs in with it', async () => {
    const newcomer = await service.make.user({ password: undefined });
    const page = await newPage(javaScriptEnabled);
    await page.goto(await service.app.get(PasswordLinksService).create(newcomer.id, SERVICE_ACTOR));
    await page.getByLabel('New password', { exact: true }).fill('a new long password');
    await page.getByLabel('Repeat new password').fill('a new long password');
    await press(page, 'Set password');
    await page.getByRole('link', { name: 'login page' }).click();
    await logIn(page, newcomer, 'a new long password');
    expect(await page.getByRole('main').innerText()).toContain(newcomer.email);
  });
}

import type { Page } from 'playwright-core';
import { SERVICE_ACTOR } from '../../src/audit/audit.service.js';
import { demoCallbackPage } from '../../demo/pages/demo-callback.page.js';
import { PasswordLinksService } from '../../src/users/passwords/password-links.service.js';
import type { UserEntity } from '../../src/users/accounts/user.entity.js';
import { authorizePath } from '../support/browser-session.js';
import { PASSWORD, REDIRECT_URI, type TestClient } from '../support/factory.js';
import { addApp, addPasskey } from '../support/second-factors.js';
import type { TestService } from '../support/test-service.js';

/** The people and the client whose names are on the pages. */
export interface Cast {
  driver: UserEntity;
  owner: UserEntity;
  client: TestClient;
}

export async function newCast(
  service: TestService,
  names: { driver: string; owner: string; client: string; email?: string },
): Promise<Cast> {
  const { make } = service;
  const driver = await make.user({ name: names.driver, ...(names.email ? { email: names.email } : {}) });
  const owner = await make.user({ name: names.owner, kind: 'organisation' });
  return { driver, owner, client: await make.client({ name: names.client, ownerId: owner.id }) };
}

const consentPath = ({ client }: Cast): string =>
  authorizePath({ response_type: 'code', client_id: client.id, redirect_uri: REDIRECT_URI, state: 's1' });

/** Signs the user in to the browser. */
export async function signIn(service: TestService, page: Page, user: UserEntity): Promise<void> {
  const value = (await service.make.signedIn(user)).cookies.get('session')!;
  await page.context().addCookies([{ name: 'session', value, url: service.url }]);
}

export async function portalLink(service: TestService, { client }: Cast): Promise<string> {
  const bearer = await service.make.clientToken(client);
  return (await service.http.get('/webhook_portal', { bearer })).json.url as string;
}

export type PageOpener = (page: Page, service: TestService, cast: Cast) => Promise<unknown>;

const go =
  (path: string): PageOpener =>
  (page, service) =>
    page.goto(service.url + path);

const openPasswordLink: PageOpener = async (page, service, { driver }) =>
  page.goto(await service.app.get(PasswordLinksService).create(driver.id, SERVICE_ACTOR));

async function setPassword(page: Page, again: string): Promise<void> {
  await page.getByLabel('New password', { exact: true }).fill('a new long password');
  await page.getByLabel('Repeat new password').fill(again);
  await page.getByRole('button', { name: 'Set password' }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
}

const showDemo =
  (props: Parameters<typeof demoCallbackPage>[0]): PageOpener =>
  async (page, service) => {
    // The route itself exists only in the demonstration.
    const body = demoCallbackPage(props);
    await page.route('**/demo/callback', (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.goto(`${service.url}/demo/callback`);
  };

/** The login of a user with a passkey and an app, after the password. */
const enterPassword: PageOpener = async (page, service, { driver }) => {
  const browser = await service.make.signedIn(driver);
  await addPasskey(browser, service.url);
  await addApp(browser);
  await page.goto(`${service.url}/login`);
  await page.getByLabel('Email').fill(driver.email);
  await page.getByLabel('Password').fill(PASSWORD);
  await page.getByRole('button', { name: 'Log in' }).click();
  await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
};

/** How to reach each page and each of its states, in a new browser context. */
export const EVERY_PAGE: Record<string, PageOpener> = {
  'description of the API': async (page, service) => {
    await page.goto(`${service.url}/docs`);
    await page.getByRole('heading', { level: 1, name: 'Charging Data Service' }).waitFor();
  },
  'description of the API, whose reference does not load': async (page, service) => {
    await page.route('**/assets/scalar-*', (route) => route.abort());
    await page.goto(`${service.url}/docs`);
  },
  'start page': go('/'),
  'start page signed in': async (page, service, { driver }) => {
    await signIn(service, page, driver);
    await page.goto(service.url);
  },
  login: (page, service, cast) => page.goto(service.url + consentPath(cast)),
  'login refused': async (page, service, { driver }) => {
    await page.goto(`${service.url}/login`);
    await page.getByLabel('Email').fill(driver.email);
    await page.getByLabel('Password').fill('wrong horse battery staple');
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByRole('alert').waitFor();
  },
  'login, asked for a second factor': enterPassword,
  'login, second factor refused': async (page, service, cast) => {
    await enterPassword(page, service, cast);
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').waitFor();
  },
  'login, second factor too late': go('/login/second-factor'),
  'login with a passkey': async (page, service) => {
    await page.goto(`${service.url}/login`);
    await page.getByText('Use a passkey instead').click();
    await page.getByRole('button', { name: 'Log in with a passkey' }).waitFor();
  },
  'login signed in': async (page, service, { driver }) => {
    await signIn(service, page, driver);
    await page.goto(`${service.url}/login`);
  },
  consent: async (page, service, cast) => {
    await signIn(service, page, cast.driver);
    await page.goto(service.url + consentPath(cast));
  },
  'consent of the owner, agreed before': async (page, service, cast) => {
    await service.make.consent(cast.client, cast.owner, ['vehicle:read']);
    await signIn(service, page, cast.owner);
    await page.goto(service.url + consentPath(cast));
  },
  'authorization error': go('/o/authorize/?client_id=unknown'),
  'not found': go('/nowhere'),
  'portal link': async (page, service, cast) => page.goto(await portalLink(service, cast)),
  'portal link gone': go('/portal/login/gone'),
  portal: async (page, service, cast) => {
    await page.goto(await portalLink(service, cast));
    await page.getByRole('button', { name: 'Open webhook portal' }).click();
    await page.waitForURL('**/portal');
  },
  'portal signed out': go('/portal'),
  'set password': openPasswordLink,
  'set password refused': async (page, service, cast) => {
    await openPasswordLink(page, service, cast);
    await setPassword(page, 'another long password');
    await page.getByRole('alert').waitFor();
  },
  'password set': async (page, service, cast) => {
    await openPasswordLink(page, service, cast);
    await setPassword(page, 'a new long password');
    await page.getByRole('link', { name: 'login page' }).waitFor();
  },
  'password link gone': go('/password/gone'),
  'kind of problem': go('/v2/problems/unsupported-version/'),
  'demonstration callback': showDemo({ code: `cds_ac_${'Ab1-'.repeat(12)}x` }),
  'demonstration callback refused': showDemo({ error: 'access_denied' }),
};

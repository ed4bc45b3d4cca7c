import type { Page } from 'playwright-core';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { UnsubscribeKeys } from '#records/mail/unsubscribe-keys.service.js';
import { demoCallbackPage } from '../../demo/pages/demo-callback.page.js';
import type { DemoGuide } from '../../demo/demo-guide.js';
import { demoPage } from '../../demo/pages/demo.page.js';
import type { DemoMail } from '../../demo/demo-inbox.js';
import { demoInboxPage, demoMailPage } from '../../demo/pages/demo-mail.page.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { PLAIN_BRAND } from '#platform/config/brand-values.js';
import { withoutLogo } from '#platform/web/layout/brand.js';
import { renderPage, type LayoutProps } from '#platform/web/layout/layout.js';
import { renderMail } from '#records/mail/mail-template.js';
import { MAIL_TEXTS } from '#records/mail/mail-texts.js';
import type { NewInvitation } from '#events/partners/members/invitation.js';
import { InvitationsRepository } from '#events/partners/members/invitations.repository.js';
import { sandboxOf } from '#events/sandbox/driver.js';
import { DriversService } from '#events/sandbox/drivers.service.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { newId } from '#platform/secrets/ids.js';
import { digestOf, newSecret } from '#platform/secrets/tokens.js';
import { EmailLinksRepository } from '#access/users/emails/email-links.repository.js';
import { PasswordLinksService } from '#access/users/passwords/password-links.service.js';
import type { Environment } from '#access/users/accounts/environment.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
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

/** Lets the client say what it wants the data for. */
export async function declarePurposes(service: TestService, { client }: Cast): Promise<void> {
  const words = { route_planning: 'To plan routes with charging stops', billing: 'To refund what you paid' };
  for (const [name, en] of Object.entries(words)) {
    await service.app.get(PurposesService).put(name, { en }, SERVICE_ACTOR);
  }
  await service.make.updateClient(client, { purposes: Object.keys(words) });
}

/** Signs the user in to the browser. */
export async function signIn(service: TestService, page: Page, user: UserEntity): Promise<void> {
  const value = (await service.make.signedIn(user)).cookies.get('cds_session')!;
  await page.context().addCookies([{ name: 'cds_session', value, url: service.url }]);
}

/** Makes the user an admin without what else a role that is gained does: it would end the password. */
export const makeAdmin = (service: TestService, { id }: UserEntity): Promise<unknown> =>
  service.database.query("UPDATE users SET role = 'operator', operator_role = 'admin' WHERE id = $1", [id]);

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

const PLAIN = withoutLogo(PLAIN_BRAND);

const showDemo =
  (props: Parameters<typeof demoCallbackPage>[0]): PageOpener =>
  async (page, service) => {
    // The route itself exists only in the demonstration.
    const body = renderPage(demoCallbackPage(props), PLAIN);
    await page.route('**/demo/callback', (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.goto(`${service.url}/demo/callback`);
  };

const demoSample = ({ driver }: Cast): DemoGuide => ({
  links: [{ name: 'Account', url: '/account', note: 'as the EV driver' }],
  people: [{ who: 'EV driver', email: driver.email, password: 'o_w9GBD6_SMkxRX3', note: 'a driver' }],
  clients: [{ name: 'A client', id: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735', secret: `cds_cs_${'x'.repeat(49)}` }],
  steps: [{ title: 'A token', commands: [`curl -s -u ${'x'.repeat(120)}`, 'curl -s http://localhost/'] }],
});

const demoMail = ({ driver }: Cast): DemoMail => ({
  ...renderMail(
    MAIL_TEXTS.verifyEmail(driver.email, `http://localhost:3000/email/verify/cds_ev_${'Ab1-'.repeat(12)}x`),
    PLAIN,
    'en',
  ),
  id: 'x',
  to: driver.email,
  sentAt: new Date(0),
});

const showDemoMail =
  (path: string, pageOf: (cast: Cast) => LayoutProps): PageOpener =>
  async (page, service, cast) => {
    // The route itself exists only in the demonstration.
    const body = renderPage(pageOf(cast), PLAIN);
    await page.route(`**${path}`, (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.goto(service.url + path);
  };

/** The key of a link that was mailed: its digest is stored as the service stores it. */
async function mailedKey(
  { app }: TestService,
  link: {
    kind: 'emailKey' | 'signUpKey';
    purpose: 'verify' | 'sign_up';
    userId: string | null;
    email: string;
  },
): Promise<string> {
  const { kind, ...row } = link;
  const key = newSecret(kind);
  await app
    .get(Transactions)
    .run(() => app.get(EmailLinksRepository).insert({ ...row, digest: digestOf(key), ttl: 3600 }));
  return key;
}

export const emailKey = (service: TestService, { driver }: Cast): Promise<string> =>
  mailedKey(service, { kind: 'emailKey', purpose: 'verify', userId: driver.id, email: driver.email });

export const signUpKey = (service: TestService, { driver }: Cast): Promise<string> =>
  mailedKey(service, { kind: 'signUpKey', purpose: 'sign_up', userId: null, email: `y${driver.email}` });

/** The key of an invitation into the owner's organisation, or to become an operator: its digest is stored as the service stores it. */
async function invitationKey(
  service: TestService,
  { owner }: Cast,
  email: string,
  toOperators = false,
): Promise<string> {
  const { app } = service;
  const key = newSecret('invitationKey');
  const into = toOperators
    ? ({ organisationId: null, invitedBy: owner.id } as const)
    : { organisationId: owner.id };
  const invitation = { id: newId('mbiv'), ...into, email, role: 'viewer' } as NewInvitation & { id: string };
  if (toOperators) await makeAdmin(service, owner);
  await app
    .get(Transactions)
    .run(() => app.get(InvitationsRepository).insert({ ...invitation, digest: digestOf(key), ttl: 3600 }));
  return key;
}

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

/** Opens a guide as the owner of two more clients. */
async function readAsMember(
  page: Page,
  service: TestService,
  { owner, client: { name } }: Cast,
  environment: Environment,
): Promise<void> {
  for (const n of [1, 2])
    await service.make.client({ name: `${name} ${n}`.slice(-100), ownerId: owner.id, environment });
  await signIn(service, page, owner);
  await page.goto(`${service.url}/docs/guides/on-behalf-of-a-user`);
  await page
    .getByText('Put your secret into the samples')
    .or(page.getByText('has no sandbox client'))
    .first()
    .click();
}

const openReference =
  (path: string, heading: string): PageOpener =>
  async (page, service) => {
    await page.goto(`${service.url}${path}#reference`);
    await page.locator('#reference').getByRole('heading', { level: 1, name: heading }).waitFor();
  };

/** How to reach each page and each of its states, in a new browser context. */
export const EVERY_PAGE: Record<string, PageOpener> = {
  'description of the API': go('/docs'),
  'reference of the API': openReference('/docs', 'Charging Data Service'),
  'description of the API, whose reference does not load': async (page, service) => {
    await page.route('**/assets/scalar-*', (route) => route.abort());
    await page.goto(`${service.url}/docs#reference`);
    await page.getByText('The reference could not be loaded.').waitFor();
  },
  'description of the API for operators': go('/docs/operators'),
  'reference of the API for operators': openReference(
    '/docs/operators',
    'Charging Data Service for operators',
  ),
  'list of guides': go('/docs/guides'),
  'guide with tables': go('/docs/guides/webhooks'),
  'guide with the list of errors': go('/docs/guides/errors'),
  'guide with the values of a client': (page, service, cast) => readAsMember(page, service, cast, 'sandbox'),
  'guide with a checklist': async (page, service, cast) => {
    await readAsMember(page, service, cast, 'live');
    await page.goto(`${service.url}/docs/guides/going-live`);
  },
  'what was found in the documentation': go('/docs/search?q=token'),
  'nothing found in the documentation': go('/docs/search?q=zzzzqqqq'),
  'page about a library': go('/docs/libraries/mod-auth-openidc'),
  'page about a library, with long samples': go('/docs/libraries/passport-oauth2'),
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
  'consent with purposes': async (page, service, cast) => {
    await declarePurposes(service, cast);
    await signIn(service, page, cast.driver);
    await page.goto(service.url + consentPath(cast));
  },
  'consent of the owner, agreed before': async (page, service, cast) => {
    await service.make.consent(cast.client, cast.owner, ['vehicle:read']);
    await signIn(service, page, cast.owner);
    await page.goto(service.url + consentPath(cast));
  },
  'consent in a sandbox': async (page, service, { client, owner, driver }) => {
    const inSandbox = await service.make.client({
      name: client.name,
      ownerId: owner.id,
      environment: 'sandbox',
    });
    const path = authorizePath({
      response_type: 'code',
      client_id: inSandbox.id,
      redirect_uri: REDIRECT_URI,
    });
    await service.app.get(DriversService).create(sandboxOf(inSandbox)!, { name: driver.name }, SERVICE_ACTOR);
    await page.goto(service.url + path);
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
  'forgotten password': go('/password/forgotten'),
  'forgotten password, no address': async (page, service) => {
    await page.goto(`${service.url}/password/forgotten`);
    await page.getByLabel('Email').fill('nobody');
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.locator('[aria-invalid]').waitFor();
  },
  'forgotten password, link sent': async (page, service, { driver }) => {
    await page.goto(`${service.url}/password/forgotten`);
    await page.getByLabel('Email').fill(driver.email);
    await page.getByRole('button', { name: 'Send link' }).click();
    await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  },
  'confirm an address': async (page, service, cast) =>
    page.goto(`${service.url}/email/verify/${await emailKey(service, cast)}`),
  'address confirmed': async (page, service, cast) => {
    await page.goto(`${service.url}/email/verify/${await emailKey(service, cast)}`);
    await page.getByRole('button', { name: 'Confirm address' }).click();
    await page.getByRole('link', { name: 'start page' }).waitFor();
  },
  'link of an address gone': go('/email/verify/gone'),
  'stop these mails': async (page, { url, app }, { driver: { id: userId, email } }) => {
    const key = app.get(UnsubscribeKeys).make({ id: userId, kind: 'actionable' }, email);
    await page.goto(`${url}/email/unsubscribe/${key}`);
  },
  'sign up': go('/sign-up'),
  'sign up, name and password': async (page, service, cast) =>
    page.goto(`${service.url}/sign-up/${await signUpKey(service, cast)}`),
  'sign up refused': async (page, service, cast) => {
    await page.goto(`${service.url}/sign-up/${await signUpKey(service, cast)}`);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('alert').waitFor();
  },
  'sign up with a passkey refused': async (page, service, cast) => {
    await page.goto(`${service.url}/sign-up/${await signUpKey(service, cast)}`);
    await page.getByLabel('Name').fill(cast.driver.name);
    // This browser's site has no name.
    await page.getByRole('button', { name: 'Use a passkey instead' }).click();
    await page.getByRole('alert').waitFor();
  },
  'sign-up link gone': go('/sign-up/gone'),
  'invitation gone': go('/invitations/gone'),
  'invitation for someone without an account': async (page, service, cast) =>
    page.goto(`${service.url}/invitations/${await invitationKey(service, cast, `y${cast.driver.email}`)}`),
  invitation: async (page, service, cast) => {
    await service.database.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [
      cast.driver.id,
    ]);
    await signIn(service, page, cast.driver);
    await page.goto(`${service.url}/invitations/${await invitationKey(service, cast, cast.driver.email)}`);
  },
  'invitation to become an operator': async (page, service, cast) => {
    await service.database.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [
      cast.driver.id,
    ]);
    await signIn(service, page, cast.driver);
    const key = await invitationKey(service, cast, cast.driver.email, true);
    await page.goto(`${service.url}/invitations/${key}`);
  },
  'invitation for another address': async (page, service, cast) => {
    await signIn(service, page, cast.owner);
    await page.goto(`${service.url}/invitations/${await invitationKey(service, cast, cast.driver.email)}`);
  },
  demonstration: showDemoMail('/demo', (cast) => demoPage(demoSample(cast))),
  'demonstration inbox, empty': showDemoMail('/demo/mail', () => demoInboxPage([])),
  'demonstration inbox': showDemoMail('/demo/mail', (cast) => demoInboxPage([demoMail(cast)])),
  'demonstration mail': async (page, service, cast) => {
    const body = demoMail(cast).html;
    await page.route('**/demo/mail/x/html', (route) => route.fulfill({ contentType: 'text/html', body }));
    await showDemoMail('/demo/mail/x', () => demoMailPage(demoMail(cast)))(page, service, cast);
  },
  'kind of problem': go('/v2/problems/unsupported-version/'),
  'demonstration callback': showDemo({ code: `cds_ac_${'Ab1-'.repeat(12)}x` }),
  'demonstration callback refused': showDemo({ error: 'access_denied' }),
};

import type { Page } from 'playwright-core';
import { refusalPage } from '#access/identity-providers/pages/refusal.page.js';
import { REFUSAL_STATUS, type SignInRefusalReason } from '#access/identity-providers/refusals.js';
import type { UserEntity } from '#access/users/accounts/user.entity.js';
import { PLAIN_BRAND } from '#platform/config/brand-values.js';
import { withoutLogo } from '#platform/web/layout/brand.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { wayOutPage } from '#platform/web/layout/way-out.page.js';
import type { TestService } from '../support/test-service.js';
import { makeAdmin, signIn, type Cast, type PageOpener } from './every-page.js';

/** As long as a label can be, without a place to break. */
const LABEL = 'Donaudampfschifffahrtselektrizitaetenhauptbetriebswerkbauunte';

const provider = (id: string, label: string) => ({
  ...{ id, label, issuer: 'http://127.0.0.1:9', client_id: 'charging', client_secret: 'a-secret' },
  ...{ audience: ['users', 'operators'], accounts: 'create' },
});

/** Two providers, which nobody can reach. */
export const PROVIDERS_ENV = {
  IDENTITY_PROVIDERS: JSON.stringify([
    provider('company', 'Example Company'),
    provider('long', LABEL.slice(0, 60)),
  ]),
};

const link = async ({ database }: TestService, { id }: UserEntity): Promise<void> => {
  for (const one of ['company', 'long', 'gone'])
    await database.query(
      'INSERT INTO identities (issuer, subject, user_id, provider) VALUES ($1, $2, $3, $4)',
      [`https://${one}.example/${'path-'.repeat(20)}`, `${id}${'x'.repeat(200)}`, id, one],
    );
};

/** Signs the user in, by a session that came from a provider some time ago. */
const signInByProvider = async (service: TestService, page: Page, user: UserEntity): Promise<void> => {
  await link(service, user);
  await signIn(service, page, user);
  await service.database.query(
    `UPDATE sessions SET method = 'provider', provider = 'long', provider_subject = 'x',
            created_at = now() - interval '16 minutes' WHERE user_id = $1`,
    [user.id],
  );
};

const signInAsAdmin = async (service: TestService, page: Page, { owner }: Cast): Promise<void> => {
  await makeAdmin(service, owner);
  await signIn(service, page, owner);
};

/** What the callback shows for this reason, which takes a provider to come about. */
const showRefusal =
  (reason: SignInRefusalReason): PageOpener =>
  async (page, service) => {
    const answer = refusalPage(reason, {
      label: LABEL.slice(0, 60),
      requestId: '01HN2NJ9NMRZBXT1H6FT9N7735',
    });
    if (!('page' in answer)) throw new Error('no page');
    const body = renderPage(answer.page, withoutLogo(PLAIN_BRAND));
    await page.route('**/login/callback/long', (route) => route.fulfill({ contentType: 'text/html', body }));
    await page.goto(`${service.url}/login/callback/long`);
  };
/** The page that goes on to a provider, without going on. */
const showWayOut: PageOpener = async (page, service) => {
  const body = renderPage(
    { ...wayOutPage('https://login.example/', LABEL.slice(0, 60)), goesOnTo: undefined },
    withoutLogo(PLAIN_BRAND),
  );
  await page.route('**/login/way-out', (route) => route.fulfill({ contentType: 'text/html', body }));
  await page.goto(`${service.url}/login/way-out`);
};
const REASONS = Object.keys(REFUSAL_STATUS) as SignInRefusalReason[];

/** How to reach each page that shows an identity provider, and each of its states. */
export const PROVIDER_PAGES: Record<string, PageOpener> = {
  'login with providers': (page, service) => page.goto(`${service.url}/login`),
  'going on to a provider': showWayOut,
  'login through a provider that cannot be reached': async (page, service) => {
    await page.goto(`${service.url}/login`);
    await page.getByRole('button', { name: 'Continue with Example Company' }).click();
    await page.getByRole('heading', { name: 'This login does not work at the moment' }).waitFor();
  },
  ...Object.fromEntries(REASONS.map((reason) => [`login refused, ${reason}`, showRefusal(reason)])),
  'sessions of a user with linked providers': async (page, service, { driver }) => {
    await link(service, driver);
    await signIn(service, page, driver);
    await page.goto(`${service.url}/account/sessions`);
    await page.getByRole('heading', { name: 'Other services you log in with' }).waitFor();
  },
  'login at the provider asked for again': async (page, service, { driver }) => {
    await signInByProvider(service, page, driver);
    await page.goto(`${service.url}/account/security/passkeys/new`);
    await page.getByRole('button', { name: `Continue with ${LABEL.slice(0, 60)}` }).waitFor();
  },
  'console, login at the provider asked for': async (page, service, cast) => {
    await signInAsAdmin(service, page, cast);
    await signInByProvider(service, page, cast.owner);
    await page.goto(`${service.url}/admin/console/confirm-password?return_to=/admin/console/clients`);
  },
  'console identities of a user': async (page, service, cast) => {
    await link(service, cast.driver);
    await signInAsAdmin(service, page, cast);
    await page.goto(`${service.url}/admin/console/users/${cast.driver.id}/identities`);
  },
  'console remove an identity': async (page, service, cast) => {
    await link(service, cast.driver);
    await signInAsAdmin(service, page, cast);
    await page.goto(`${service.url}/admin/console/users/${cast.driver.id}/identities/long/remove`);
    await page.getByRole('button', { name: 'Remove link' }).waitFor();
  },
};

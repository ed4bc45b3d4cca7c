import type { Page } from 'playwright-core';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { digestOf, newSecret } from '#platform/secrets/tokens.js';
import { AccountDeletionsService } from '#access/users/closing/account-deletions.service.js';
import { DataExportsRepository } from '#access/users/closing/data-exports.repository.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { addApp, addPasskey, codeOf } from '../support/second-factors.js';
import type { TestService } from '../support/test-service.js';
import { declarePurposes, signIn, type Cast, type PageOpener } from './every-page.js';

const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

/** Signs the driver in and opens a part of the account. */
const open =
  (path: string, prepare?: (service: TestService, cast: Cast) => Promise<unknown>): PageOpener =>
  async (page, service, cast) => {
    await prepare?.(service, cast);
    await signIn(service, page, cast.driver);
    await page.goto(service.url + path);
  };

const connect = async ({ make }: TestService, { client, driver }: Cast): Promise<void> => {
  await make.consent(client, driver);
  await make.tokens(client, driver);
};

const read = async (service: TestService, cast: Cast): Promise<void> => {
  await connect(service, cast);
  await service.database.query(
    `INSERT INTO disclosure_days (user_id, client_id, day, scope, requests, deliveries)
     SELECT $1, $2, current_date - 4 * n, scope, n, 40 * n
       FROM generate_series(1, 20) n, unnest('{charging_session:read,vehicle:read,account data}'::text[]) scope
     ON CONFLICT DO NOTHING`,
    [cast.driver.id, cast.client.id],
  );
};

/** Words of what the driver agreed to came to mean something else. */
const askAnew = async (service: TestService, cast: Cast): Promise<void> => {
  await declarePurposes(service, cast);
  await service.make.updateClient(cast.client, { optionalScopes: ['charging_session:read'] });
  await connect(service, cast);
  await service.database.query(
    `UPDATE consents SET words_changed = '{vehicle:read}', method = 'service', reason = 'words_changed',
            expires_at = now() + interval '14 days' WHERE user_id = $1`,
    [cast.driver.id],
  );
};

const notify = (service: TestService, { driver }: Cast): Promise<unknown> =>
  service.app.get(NotificationsService).raiseByOperator(
    {
      userId: driver.id,
      messageId: 'ERR9001',
      category: 'ACTIONABLE',
      shortTextTitle: `A title ${driver.name}`.slice(0, 200),
      shortTextBody: `Something happened to ${driver.name}.`,
      detailPageTitle: `Why? ${driver.name}`.slice(0, 200),
      detailPageBody: `First this.\n\nThen that happened to ${driver.name}.`,
      externalLink: `https://help.example/${'path-'.repeat(50)}`,
      externalButtonLabel: `Read more ${driver.name}`.slice(0, 100),
    },
    SERVICE_ACTOR,
  );

const withFactors = async ({ make, url }: TestService, { driver }: Cast): Promise<void> => {
  const browser = await make.signedIn(driver);
  await addPasskey(browser, url, { name: driver.name.slice(0, 100) });
  await addApp(browser);
};

/** Opens the page of a passkey's action from the list. */
const ofPasskey =
  (action: 'Rename' | 'Remove'): PageOpener =>
  async (page, service, { driver }) => {
    const browser = await service.make.signedIn(driver);
    await addPasskey(browser, service.url, { name: driver.name.slice(0, 100) });
    const value = browser.cookies.get('cds_session')!;
    await page.context().addCookies([{ name: 'cds_session', value, url: service.url }]);
    await page.goto(`${service.url}/account/security`);
    await page.getByRole('link', { name: action }).click();
    await page.getByRole('heading', { level: 1, name: `${action} passkey` }).waitFor();
  };

const givenLongAgo = ({ database }: TestService, { driver }: Cast): Promise<unknown> =>
  database.query("UPDATE sessions SET created_at = now() - interval '16 minutes' WHERE user_id = $1", [
    driver.id,
  ]);

/** As whoever signed up with a passkey. */
const withoutPassword = ({ database }: TestService, { driver }: Cast): Promise<unknown> =>
  database.query(
    "WITH u AS (UPDATE users SET password_hash = NULL WHERE id = $1) UPDATE sessions SET method = 'passkey' WHERE user_id = $1",
    [driver.id],
  );

async function fillPassword(page: Page, current: string, password: string, again = password): Promise<void> {
  await page.getByLabel('Current password').fill(current);
  await page.getByLabel('New password', { exact: true }).fill(password);
  await page.getByLabel('Repeat new password').fill(again);
  await page.getByRole('button', { name: 'Change password' }).click();
}

/** How to reach each part of the account page and each of its states. */
export const ACCOUNT_PAGES: Record<string, PageOpener> = {
  'account without applications': open('/account'),
  'account with an application': open('/account', connect),
  'disconnect an application': async (page, service, cast) =>
    open(`/account/applications/${cast.client.id}`, connect)(page, service, cast),
  'application disconnected': async (page, service, cast) => {
    await open(`/account/applications/${cast.client.id}`, connect)(page, service, cast);
    await page.getByRole('button', { name: 'Disconnect' }).click();
    await page.getByRole('status').waitFor();
  },
  'account that will be deleted': async (page, service, cast) => {
    await service.make.tokens(cast.client, cast.driver);
    await service.app.get(AccountDeletionsService).request(cast.driver.id, SERVICE_ACTOR);
    await open('/account')(page, service, cast);
    await page.getByRole('button', { name: 'Keep my account' }).waitFor();
  },
  'delete the account': open('/account/delete', connect),
  'delete the account, with another address': async (page, service, cast) => {
    await open('/account/delete')(page, service, cast);
    await page.getByLabel('Your email address').fill('someone-else@mail.example');
    await page.getByRole('button', { name: 'Delete account' }).click();
    await page.getByRole('alert').waitFor();
  },
  'delete the account, while it owns applications': async (page, service, cast) => {
    await service.make.client({ ownerId: cast.driver.id });
    await open('/account/delete')(page, service, cast);
    await page.getByRole('alert').waitFor();
  },
  'delete the account, asked for': async (page, service, cast) => {
    await service.app.get(AccountDeletionsService).request(cast.driver.id, SERVICE_ACTOR);
    await open('/account/delete')(page, service, cast);
    await page.getByRole('button', { name: 'Keep my account' }).waitFor();
  },
  'account deleted': open('/account-deleted'),
  'data to take along': open('/account/export'),
  'data to take along, confirmed': open('/account/export', ({ database }, { driver }) =>
    database.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [driver.id]),
  ),
  'data that was taken along': open(`/account/export/${newSecret('exportKey')}`),
  'the data': async (page, service, cast) => {
    await connect(service, cast);
    await notify(service, cast);
    await open('/account')(page, service, cast);
    await addPasskey(await service.make.signedIn(cast.driver), service.url, {
      name: cast.driver.name.slice(0, 100),
    });
    const key = newSecret('exportKey');
    const link = { userId: cast.driver.id, digest: digestOf(key), ttl: 3600 };
    const exports = service.app.get(DataExportsRepository, { strict: false });
    await service.app.get(Transactions).run(() => exports.replace(link));
    await page.goto(`${service.url}/account/export/${key}`);
    await page.getByRole('button', { name: 'Download as a file' }).waitFor();
  },
  'what an application read': async (page, service, cast) => {
    await open(`/account/applications/${cast.client.id}/history`, read)(page, service, cast);
    await page.getByText('“Asked” means').waitFor();
  },
  'what an application read, nothing': async (page, service, cast) =>
    open(`/account/applications/${cast.client.id}/history`, ({ make }) =>
      make.consent(cast.client, cast.driver),
    )(page, service, cast),
  'account with an application that is no longer connected': async (page, service, cast) => {
    await open('/account', async () => {
      await read(service, cast);
      await service.make.revokeConsent(cast.client, cast.driver);
    })(page, service, cast);
    await page.getByRole('heading', { name: 'No longer connected' }).waitFor();
  },
  'access to agree to anew': async (page, service, cast) =>
    open(`/account/applications/${cast.client.id}/access`, askAnew)(page, service, cast),
  'receipts of an application': async (page, service, cast) =>
    open(`/account/receipts/of/${cast.client.id}`, askAnew)(page, service, cast),
  'receipt with purposes': async (page, service, cast) => {
    await ACCOUNT_PAGES['receipts of an application']!(page, service, cast);
    await page.getByRole('link', { name: 'Receipt of' }).nth(1).click();
    await page.getByRole('heading', { name: 'The words that you saw' }).waitFor();
  },
  notifications: async (page, service, cast) => {
    await open('/account/notifications', notify)(page, service, cast);
    for (const summary of await page.locator('.opening summary').all()) await summary.click();
    await page.getByText(/^Why\?/).waitFor();
  },
  'notifications past the end': open(
    '/account/notifications?page_after=notf01HN2NJ9NMRZBXT1H6FT9N7735',
    notify,
  ),
  'email, not confirmed': open('/account/email'),
  'email, confirmed': open('/account/email', ({ database }, { driver }) =>
    database.query('UPDATE users SET email_verified_at = now() WHERE id = $1', [driver.id]),
  ),
  'change of password': open('/account/password'),
  'change of password refused': async (page, service, cast) => {
    await open('/account/password')(page, service, cast);
    await fillPassword(page, 'wrong horse battery staple', 'a new long password', 'another long password');
    await page.getByRole('alert').waitFor();
  },
  'change of password, without one': async (page, service, cast) => {
    await open('/account/password')(page, service, cast);
    await withoutPassword(service, cast);
    await page.reload();
    await page.getByText('You have no password').waitFor();
  },
  'security without factors': open('/account/security'),
  'security with a passkey and an app': async (page, service, cast) => {
    await open('/account/security')(page, service, cast);
    await withFactors(service, cast);
    await page.reload();
  },
  'add a passkey': open('/account/security/passkeys/new'),
  'add a passkey refused': async (page, service, cast) => {
    await open('/account/security/passkeys/new')(page, service, cast);
    await page.getByLabel('Name').fill('A key');
    // This browser has no authenticator, and its site no name.
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').waitFor();
  },
  'rename a passkey': ofPasskey('Rename'),
  'remove a passkey': ofPasskey('Remove'),
  'set up an app': open('/account/security/app/new'),
  'set up an app refused': async (page, service, cast) => {
    await open('/account/security/app/new')(page, service, cast);
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByRole('alert').waitFor();
  },
  'recovery codes, without a factor': open('/account/security/recovery-codes'),
  'recovery codes': async (page, service, cast) => {
    await open('/account/security/app/new')(page, service, cast);
    const secret = (await page.locator('code.secret').innerText()).replaceAll(' ', '');
    await page.getByLabel('Code', { exact: true }).fill(codeOf(secret));
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('they are shown only once').waitFor();
  },
  'recovery codes shown already': async (page, service, cast) => {
    await ACCOUNT_PAGES['recovery codes']!(page, service, cast);
    await page.reload();
    await page.getByRole('button', { name: 'Make new recovery codes' }).waitFor();
  },
  'remove an app': async (page, service, cast) => {
    await ACCOUNT_PAGES['recovery codes']!(page, service, cast);
    await page.goto(`${service.url}/account/security/app/remove`);
  },
  'login asked for again': async (page, service, cast) => {
    await open('/account/security')(page, service, cast);
    await withFactors(service, cast);
    await givenLongAgo(service, cast);
    await page.goto(`${service.url}/account/security/passkeys/new`);
    await page.getByLabel('Password').waitFor();
  },
  'login asked for again, without a password': async (page, service, cast) => {
    await open('/account/security')(page, service, cast);
    await withFactors(service, cast);
    await withoutPassword(service, cast);
    await givenLongAgo(service, cast);
    await page.goto(`${service.url}/account/confirm`);
    await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
  },
  'where signed in, here alone': open('/account/sessions', ({ database }, { driver }) =>
    database.query('DELETE FROM sessions WHERE user_id = $1', [driver.id]),
  ),
  'where signed in': open('/account/sessions', async ({ make, database }, { driver }) => {
    await make.signedIn(driver);
    await database.query('UPDATE sessions SET user_agent = $2 WHERE user_id = $1', [driver.id, USER_AGENT]);
  }),
  'where signed in, opened': async (page, service, cast) => {
    await ACCOUNT_PAGES['where signed in']!(page, service, cast);
    await page
      .locator('.opening details')
      .evaluateAll((all) => all.forEach((each) => each.setAttribute('open', '')));
  },
};

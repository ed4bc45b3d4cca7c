import type { Page } from 'playwright-core';
import { ActivityService } from '#records/activity/activity.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { InvitationsService } from '#events/partners/members/invitations.service.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { insertRedirectUriRequest } from '../support/redirect-uri-requests.js';
import type { TestService } from '../support/test-service.js';
import type { Cast, PageOpener } from './every-page.js';
import { seedRequests } from './seeded-requests.js';

type Prepare = (service: TestService, cast: Cast) => Promise<unknown>;

/** Signs the browser in as the organisation's own account, in the portal of the client. */
async function enterAsMember(page: Page, service: TestService, { owner, client }: Cast): Promise<void> {
  const browser = await service.make.signedIn(owner);
  await browser.submit(await browser.open('/portal/sign-in'), `/portal/sign-in/${client.id}`);
  const cookies = ['cds_session', 'cds_portal_session'].map((name) => ({
    name,
    value: browser.cookies.get(name)!,
    url: service.url,
  }));
  await page.context().addCookies(cookies);
}

const open =
  (
    path: string | ((cast: Cast) => string),
    prepare?: Prepare,
    then?: (page: Page) => Promise<unknown>,
  ): PageOpener =>
  async (page, service, cast) => {
    await prepare?.(service, cast);
    await enterAsMember(page, service, cast);
    await page.goto(service.url + (typeof path === 'string' ? path : path(cast)));
    await then?.(page);
  };

const press = (name: string) => async (page: Page) => {
  await page.getByRole('button', { name, exact: true }).click();
  await page.getByRole('heading', { level: 1 }).waitFor();
};

const LONG_URI = `https://app.example/${'a-path-without-an-end/'.repeat(80)}`;

const addMembers: Prepare = async ({ app }, { owner, driver }) => {
  await app.get(MembersService).add(owner.id, driver.id, 'viewer', SERVICE_ACTOR);
  await app.get(InvitationsService).invite(owner.id, `y${driver.email}`, 'developer', SERVICE_ACTOR);
};

const askForUris: Prepare = async ({ database }, { client, owner }) => {
  const asked = { clientId: client.id, by: owner.id, uri: LONG_URI };
  await insertRedirectUriRequest(database, { ...asked, rejected: 'W'.repeat(300) });
  await insertRedirectUriRequest(database, asked);
  await database.query('UPDATE clients SET redirect_uris = redirect_uris || $2::text WHERE id = $1', [
    client.id,
    `${LONG_URI}x`,
  ]);
};

const sendRequests: Prepare = async (service, { client }) => {
  const { database, app, make } = service;
  await make.clientToken(client);
  await seedRequests(service, client);
  await database.query(
    `INSERT INTO activity_hours (client_id, hour, kind, detail, count, last_at)
     SELECT $1, date_trunc('hour', now()) - make_interval(hours => n), kind, 'api', size + (n * 37) % 11, now()
       FROM generate_series(0, 160) n, (VALUES ('request', 900), ('rate_limited', 30)) AS k (kind, size)
     ON CONFLICT DO NOTHING`,
    [client.id],
  );
  const activity = app.get(ActivityService);
  for (const [kind, detail] of [
    ['token_refused', 'expired_secret'],
    ['bearer_refused', 'user_disabled'],
    ['rate_limited', 'partner'],
  ] as const) {
    activity.count({ kind, detail, client: { id: client.id, environment: 'live' } });
  }
  await activity.flush();
};

const givenLongAgo = (service: TestService, { owner }: Cast) =>
  service.database.query(
    "UPDATE sessions SET created_at = now() - interval '16 minutes' WHERE user_id = $1",
    [owner.id],
  );

/** How to reach each page that members have in the portal, and each of its states. */
export const MEMBER_PAGES: Record<string, PageOpener> = {
  'portal sign-in': open('/portal/sign-in'),
  'portal sign-in, no organisation': async (page, service, cast) => {
    const value = (await service.make.signedIn(cast.driver)).cookies.get('cds_session')!;
    await page.context().addCookies([{ name: 'cds_session', value, url: service.url }]);
    await page.goto(`${service.url}/portal/sign-in`);
  },
  credentials: open('/portal/credentials', undefined, async (page) => {
    await press('Rotate secret')(page);
    await page.goto(new URL('/portal/credentials', page.url()).href);
  }),
  'a new client secret': open('/portal/credentials', undefined, press('Rotate secret')),
  'a client secret shown already': open('/portal/credentials/secret'),
  'credentials, a login asked for': async (page, service, cast) => {
    await open('/portal')(page, service, cast);
    await givenLongAgo(service, cast);
    await page.goto(`${service.url}/portal/credentials`);
    await page.getByRole('link', { name: 'Confirm that it is you' }).waitFor();
  },
  'redirect URIs, one refused': open('/portal/redirect-uris', askForUris, async (page) => {
    await page.getByLabel('Redirect URI').fill('http://partner.example/');
    await press('Ask for a redirect URI')(page);
    await page.locator('[aria-invalid]').waitFor();
  }),
  requests: open('/portal/requests', sendRequests),
  'requests, none': open('/portal/requests?status=5xx'),
  'a request explained': open(`/portal/requests/${'x'.repeat(128)}`, sendRequests),
  'portal search, several hits': open('/portal/search?q=e', addMembers),
  refusals: open('/portal/refusals', sendRequests),
  'refusals, none': open('/portal/refusals'),
  usage: open('/portal/usage', sendRequests, async (page) => {
    await page.getByText('View as table').click();
  }),
  'usage by the day': open('/portal/usage?range=7d', sendRequests),
  'usage, none': open('/portal/usage'),
  'members, an address refused': open('/portal/members', addMembers, async (page) => {
    await page.getByLabel('Email').fill('nobody');
    await press('Invite')(page);
    await page.locator('[aria-invalid]').waitFor();
  }),
  'change the role of a member': open(({ driver }) => `/portal/members/${driver.id}`, addMembers),
  'remove a member': open(({ driver }) => `/portal/members/${driver.id}/remove`, addMembers),
  'portal page for a higher role': async (page, service, cast) => {
    await open('/portal')(page, service, cast);
    const link = await service.make.clientToken(cast.client);
    const { json } = await service.http.get('/webhook_portal', { bearer: link });
    await page.goto(json.url as string);
    await press('Open webhook portal')(page);
    await page.goto(`${service.url}/portal/members/${cast.driver.id}`);
  },
};

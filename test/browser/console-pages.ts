import { ActivityService } from '#records/activity/activity.service.js';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { newId } from '#platform/secrets/ids.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { MembersService } from '#events/partners/members/members.service.js';
import { insertRedirectUriRequest } from '../support/redirect-uri-requests.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { makeEndpoint, seedDelivery } from '../support/portal.js';
import { showLogo } from '../support/uploads.js';
import type { TestService } from '../support/test-service.js';
import { makeAdmin, signIn, type Cast, type PageOpener } from './every-page.js';
import { seedRequests } from './seeded-requests.js';

type Prepare = (service: TestService, cast: Cast) => Promise<unknown>;

const CONSOLE = '/admin/console';

/** Opens a page of the console as the client's owner, who is made an operator for this. */
const open =
  (path: string | ((cast: Cast, prepared: unknown) => string), prepare?: Prepare): PageOpener =>
  async (page, service, cast) => {
    await makeAdmin(service, cast.owner);
    const prepared = await prepare?.(service, cast);
    await signIn(service, page, cast.owner);
    await page.goto(`${service.url}${CONSOLE}${typeof path === 'string' ? path : path(cast, prepared)}`);
  };

const ofClient = (part: string, prepare?: Prepare): PageOpener =>
  open(({ client }) => `/clients/${client.id}${part}`, prepare);
const ofUser = (part: string, prepare?: Prepare): PageOpener =>
  open(({ driver }) => `/users/${driver.id}${part}`, prepare);

const connect: Prepare = async ({ make }, { client, driver }) => {
  await make.consent(client, driver);
  await make.tokens(client, driver);
};

const purpose: Prepare = ({ database }) =>
  database.query(
    `INSERT INTO purposes VALUES ('route_planning', '{"en": "To plan routes with charging stops", "de": "Um Routen zu planen"}')
     ON CONFLICT DO NOTHING`,
  );

/** A week of activity that rises and falls. */
const busyWeek: Prepare = async (service, { client }) => {
  await service.database.query(
    `INSERT INTO activity_hours (client_id, hour, kind, detail, count, last_at)
     SELECT 'all', date_trunc('hour', now()) - make_interval(hours => n), kind, 'x',
            greatest(0, (size * (1.2 + sin(n / 3.8)) + (n * 37) % 11))::int, now()
       FROM generate_series(0, 167) n,
            (VALUES ('token_issued', 900), ('token_refused', 30), ('sign_in_refused', 4)) AS k (kind, size)
     ON CONFLICT DO NOTHING`,
  );
  const { id } = await endpointOf(service, { client } as Cast);
  await service.database.query(
    `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
     SELECT $1, date_trunc('hour', now()) - make_interval(hours => n), 40 + (n * 7) % 23, (n * 5) % 11, 30000, 2000
       FROM generate_series(0, 167) n`,
    [id],
  );
  await service.database.query(
    `UPDATE webhook_endpoints SET enabled = false, disabled_at = now(), disabled_reason = 'gone' WHERE id = $1`,
    [id],
  );
  await refuse(service, { client } as Cast);
};

const refuse: Prepare = async (service, { client }) => {
  const activity = service.app.get(ActivityService);
  const about = {
    client: { id: client.id, environment: 'live' },
    address: '2001:db8:1234:5678:9abc:def0:1234:5678',
  } as const;
  activity.count({ kind: 'token_refused', detail: 'expired_secret', ...about });
  activity.count({ kind: 'bearer_refused', detail: 'token_expired', ...about });
  activity.count({ kind: 'rate_limited', detail: 'partner', ...about });
  activity.count({ kind: 'token_issued', detail: 'client_credentials', ...about });
  await activity.flush();
};

const sendRequests: Prepare = (service, { client }) => seedRequests(service, client);

const endpointOf = (service: TestService, { client }: Cast): Promise<EndpointEntity> =>
  makeEndpoint(service, client, {
    url: `http://127.0.0.1:9/${'a-path-without-an-end/'.repeat(20)}`,
    description: client.name,
    eventTypes: ['charging_session.created', 'vehicle.updated'],
  });

const deliver = async (service: TestService, cast: Cast): Promise<string> => {
  const endpoint = await endpointOf(service, cast);
  await seedDelivery(service, endpoint, { state: 'delivered', attempts: [{ status: 204 }], isTest: true });
  await seedDelivery(service, endpoint, { state: 'cancelled', cancelReason: 'consent_withdrawn' });
  await seedDelivery(service, endpoint, { state: 'pending' });
  return seedDelivery(service, endpoint, {
    state: 'failed',
    attempts: [
      { failure: 'timeout', durationMs: 15_000, detail: 'There was no response within 15 s.' },
      { status: 500, durationMs: 340, responseStart: '<h1>Error</h1>-without-a-place-to-break'.repeat(8) },
    ],
  });
};

const notify: Prepare = (service, { driver, client }) =>
  service.app.get(NotificationsService).raiseByOperator(
    {
      userId: driver.id,
      clientId: client.id,
      messageId: 'ERR9001',
      category: 'ACTIONABLE',
      shortTextTitle: `A title ${driver.name}`.slice(0, 200),
      shortTextBody: `Something happened to ${driver.name}.`,
    },
    SERVICE_ACTOR,
  );

/** Another admin asks for the erasure of the driver. */
const ask: Prepare = async (service, { driver }) => {
  const id = newId('appr');
  await service.database.query(
    `INSERT INTO approvals (id, action, subject_id, requested_by_type, requested_by_id, requested_by_person, expires_at)
     SELECT $1, 'user.erase', $2, 'user', $2, $2, now() + interval '7 days'
     ON CONFLICT (action, subject_id) WHERE state = 'pending' DO NOTHING`,
    [id, driver.id],
  );
  const [row] = await service.database.query<{ id: string }>(
    'SELECT id FROM approvals WHERE subject_id = $1',
    [driver.id],
  );
  return row!.id;
};

/** A partner asks for a redirect URI. */
const askForUri: Prepare = ({ database }, { client, driver }) =>
  insertRedirectUriRequest(database, {
    clientId: client.id,
    by: driver.id,
    uri: `https://app.example/${'a-path-without-an-end/'.repeat(20)}`,
  });

const addMember: Prepare = async (service, { owner, driver }) => {
  await service.database.query("UPDATE users SET kind = 'organisation' WHERE id = $1", [owner.id]);
  await service.app.get(MembersService).add(owner.id, driver.id, 'developer', SERVICE_ACTOR);
};

const inviteOperator: Prepare = (service, { owner, driver }) =>
  service.database.query(
    `INSERT INTO organisation_invitations (id, email, email_key, role, invited_by, digest, expires_at)
     VALUES ($1::text, $2, $2, 'support', $3, sha256($1::text::bytea), now() + interval '1 day')`,
    [newId('mbiv'), driver.email, owner.id],
  );

const givenLongAgo: Prepare = (service, { owner }) =>
  service.database.query(
    "UPDATE sessions SET created_at = now() - interval '16 minutes' WHERE user_id = $1",
    [owner.id],
  );

/** How to reach each page of the console and each of its states. */
export const CONSOLE_PAGES: Record<string, PageOpener> = {
  'console for others': async (page, service, { driver }) => {
    await signIn(service, page, driver);
    await page.goto(service.url + CONSOLE);
  },
  'console overview': open('', busyWeek),
  'console password asked for': open('/confirm-password?return_to=/admin/console/clients'),
  'console, an unknown address': open('/nowhere/at/all'),
  'console, an unknown id': open('/users/user01HN2NJ9NMRZBXT1H6FT9N7735'),
  'console clients': open('/clients'),
  'console clients, none found': open('/clients?q=nothing+is+called+so'),
  'console register a client': open('/clients/new'),
  'console register a client refused': async (page, service, cast) => {
    await open('/clients/new')(page, service, cast);
    await page.getByLabel('Owner').fill(cast.driver.email);
    await page.getByLabel('Requests per hour').fill('many');
    await page.getByRole('button', { name: 'Create client' }).click();
    await page.getByRole('alert').waitFor();
  },
  'console client': ofClient(''),
  'console edit a client': ofClient('/edit'),
  'console logo of a client': ofClient('/logo'),
  'console logo of a client, shown': ofClient('/logo', (service, { client }) => showLogo(service, client)),
  'console brand': open('/brand', (service, { client }) => showLogo(service, client)),
  'console edit the brand': open('/brand/edit'),
  'console edit the brand, refused': async (page, service, cast) => {
    await open('/brand/edit')(page, service, cast);
    await page.getByLabel('Accent colour').fill('#ffcc00');
    await page.getByLabel('Privacy').fill('http://voltera.example/');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').waitFor();
  },
  'console preview of the brand': async (page, service, cast) => {
    await open('/brand/edit')(page, service, cast);
    await page.getByLabel('Name').fill('W'.repeat(60));
    await page.getByLabel('Accent colour').fill('#b3005e');
    await page.getByLabel('Support address').fill(`${'l'.repeat(60)}@${'a-long-label.'.repeat(14)}example`);
    await page.getByLabel('Privacy').fill('https://voltera.example/privacy');
    await page.getByLabel('Terms').fill('https://voltera.example/terms');
    await page.getByLabel('Footer').fill(`${'Footer'.repeat(20)} GmbH`);
    await page.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('heading', { name: 'Preview' }).waitFor();
  },
  'console logo of the service': open('/brand/logo'),
  'console rotate a secret': ofClient('/secret'),
  'console new secret': async (page, service, cast) => {
    await ofClient('/secret')(page, service, cast);
    await page.getByRole('button', { name: 'Create new secret' }).click();
    await page.getByText('it is shown only once').waitFor();
  },
  'console secret shown already': ofClient('/secret/shown'),
  'console edit a client, the password asked for': async (page, service, cast) => {
    await ofClient('/edit')(page, service, cast);
    await givenLongAgo(service, cast);
    await page.getByLabel('Redirect URIs').fill('https://other.example/callback');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByLabel('Your password').waitFor();
  },
  'console delete a client': ofClient('/delete', connect),
  'console refusals': ofClient('/refusals', refuse),
  'console requests': ofClient('/requests', sendRequests),
  'console requests, none': ofClient('/requests'),
  'console refusals, none': ofClient('/refusals'),
  'console consents': ofClient('/consents', connect),
  'console consents, none': ofClient('/consents'),
  'console record a consent': ofClient('/consents/new'),
  'console grants': ofClient('/grants', connect),
  'console disconnect a user': open(
    ({ client, driver }) => `/clients/${client.id}/consents/${driver.id}/disconnect`,
    connect,
  ),
  'console users': open('/users'),
  'console make a user': open('/users/new'),
  'console user': ofUser(''),
  'console link to set a password': async (page, service, cast) => {
    await ofUser('')(page, service, cast);
    await page.getByRole('button', { name: 'Create password link' }).click();
    await page.getByText('it is shown only once').waitFor();
  },
  'console link shown already': ofUser('/password-link'),
  'console own account': open(({ owner }) => `/users/${owner.id}`),
  'console applications of a user': ofUser('/applications', connect),
  'console identities of a user, none': ofUser('/identities'),
  'console make an operator': ofUser('/make-operator'),
  'console reset a second factor': ofUser('/reset-second-factor'),
  'console user for a viewer': async (page, service, cast) => {
    await ofUser('')(page, service, cast);
    await service.app.get(UsersService).update(cast.owner.id, { operatorRole: 'viewer' }, SERVICE_ACTOR);
    await signIn(service, page, cast.owner);
    await page.reload();
  },
  'console page for a higher role': async (page, service, cast) => {
    await ofUser('')(page, service, cast);
    await service.app.get(UsersService).update(cast.owner.id, { operatorRole: 'viewer' }, SERVICE_ACTOR);
    await signIn(service, page, cast.owner);
    await page.goto(`${service.url}${CONSOLE}/users/new`);
  },
  'console approvals': open('/approvals', ask),
  'console approvals, none': open('/approvals?state=expired'),
  'console approval': open((_cast, id) => `/approvals/${id as string}`, ask),
  'console redirect URIs': open('/redirect-uris', askForUri),
  'console redirect URIs, none': open('/redirect-uris?state=rejected'),
  'console redirect URI': open((_cast, id) => `/redirect-uris/${id as string}`, askForUri),
  'console members': open(({ owner }) => `/users/${owner.id}/members`, addMember),
  'console members of a person': ofUser('/members'),
  'console operator invitations': open('/users/invitations', inviteOperator),
  'console invite an operator': open('/users/invitations/new'),
  'console add a member': open(({ owner }) => `/users/${owner.id}/members/new`, addMember),
  'console remove a member': open(
    ({ owner, driver }) => `/users/${owner.id}/members/${driver.id}/remove`,
    addMember,
  ),
  'console erase a user': ofUser('/erase'),
  'console scopes': open('/scopes'),
  'console edit a scope': open('/scopes/vehicle:read/edit'),
  'console purposes': open('/purposes', purpose),
  'console purposes, none': open('/purposes', ({ database }) => database.query('DELETE FROM purposes')),
  'console create a purpose': open('/purposes/new'),
  'console edit a purpose': open('/purposes/route_planning/edit', purpose),
  'console delete a purpose': open('/purposes/route_planning/delete', purpose),
  'console event types': open('/event-types'),
  'console event type': open('/event-types/charging_session.updated'),
  'console edit an event type': open('/event-types/charging_session.updated/edit'),
  'console new version of an event type, refused': async (page, service, cast) => {
    await open('/event-types/charging_session.updated/versions/2')(page, service, cast);
    await page.getByLabel('Schema', { exact: true }).fill('{"type": "nothing"}');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('alert').waitFor();
  },
  'console endpoints': open('/endpoints', (service, cast) => endpointOf(service, cast)),
  'console endpoint': open(
    (_cast, endpoint) => `/endpoints/${(endpoint as EndpointEntity).id}`,
    (service, cast) => endpointOf(service, cast),
  ),
  'console add an endpoint': ofClient('/endpoints/new'),
  'console new endpoint': async (page, service, cast) => {
    await ofClient('/endpoints/new')(page, service, cast);
    await page.getByLabel('URL').fill('http://127.0.0.1:9/new');
    await page.getByLabel('vehicle.updated').check();
    await page.getByRole('button', { name: 'Add endpoint' }).click();
    await page.getByText('it is shown only once').waitFor();
  },
  'console deliveries': open('/deliveries', deliver),
  'console delivery': open((_cast, id) => `/deliveries/${id as string}`, deliver),
  'console without mails': open('/mails?state=failed'),
  'console mails': open('/mails', ({ database }, { driver, client }) =>
    database.query(
      `INSERT INTO mails (id, kind, user_id, client_id, address, cause, state, attempts, last_error, sealed_content)
       VALUES ($1, 'security', $3, NULL, $5, $1, 'sent', 1, NULL, NULL),
              ($2, 'endpoint_failing', NULL, $4, $5, $2, 'pending', 3, 'the SMTP server answered 451 to RCPT TO', '\\x00')`,
      [newId('mail'), newId('mail'), driver.id, client.id, driver.email],
    ),
  ),
  'console notifications': open('/notifications', notify),
  'console raise a notification': open('/notifications/new'),
  'console audit log': open('/audit', connect),
  'console search': open('/search?q=example'),
  'console request explained': open('/requests/explained', async ({ http }) => {
    await http.get('/v2/users', { headers: { 'x-request-id': 'explained' } });
  }),
  'console audit log, a wrong filter': open('/audit?since=yesterday'),
};

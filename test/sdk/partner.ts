import createClient from 'openapi-fetch';
import type { components, paths } from './api.js';
import { describeEvent } from './events.js';
import type { components as OperatorComponents, paths as OperatorPaths } from './operators-api.js';
import { startReceiver } from './receiver.js';

type Credentials = { client_id: string; client_secret: string };

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const baseUrl = process.env['BASE_URL']!;
const visitor = createClient<paths>({ baseUrl });
const callerWith = <Paths extends object>(token: string) =>
  createClient<Paths>({ baseUrl, headers: { authorization: `Bearer ${token}` } });

/** The body of an answer that succeeded. */
function bodyOf<Body>(answer: { data?: Body; error?: unknown; response: Response }): Body {
  if (answer.data === undefined)
    throw new Error(`${answer.response.status}: ${JSON.stringify(answer.error)}`);
  return answer.data;
}

async function tokenOf(credentials: Credentials): Promise<string> {
  const body: components['schemas']['TokenForm'] = { grant_type: 'client_credentials', ...credentials };
  return bodyOf(await visitor.POST('/o/token', { body, headers: FORM })).access_token;
}

const operator = callerWith<OperatorPaths>(
  await tokenOf({
    client_id: process.env['CLIENT_ID']!,
    client_secret: process.env['CLIENT_SECRET']!,
  }),
);

// The operator registers a partner's client, which a user shares data with.
const newUser = async (body: OperatorComponents['schemas']['NewUserDto']) =>
  bodyOf(await operator.POST('/admin/users', { body })).id;
const owner_id = await newUser({ email: 'it@partner.example', name: 'Partner', kind: 'organisation' });
const user_id = await newUser({ email: 'ada@mail.example', name: 'Ada' });
const scopes = ['charging_session:read', 'vehicle:read'];
const made = bodyOf(
  await operator.POST('/admin/clients', {
    body: { name: 'Planner', type: 'confidential', grant_types: ['client_credentials'], scopes, owner_id },
  }),
);
if (!('client_id' in made)) throw new Error('The client waits for a second admin.');
const { client_id, client_secret } = made;
const ofClient = { params: { path: { client_id } } };
const receiver = await startReceiver();
bodyOf(
  await operator.POST('/admin/clients/{client_id}/webhook_endpoints', {
    ...ofClient,
    body: {
      url: receiver.url,
      event_types: ['user.consent_granted', 'charging_session.ended', 'vehicle.updated'],
    },
  }),
);
bodyOf(
  await operator.PUT('/admin/clients/{client_id}/consents/{user_id}', {
    params: { path: { client_id, user_id } },
    body: { scopes },
  }),
);

// The partner lists its users, opens the portal and receives events.
const credentials = { client_id, client_secret: client_secret! };
const token = await tokenOf(credentials);
const partner = callerWith<paths>(token);
const listUsers = () => partner.GET('/v2/users', { params: { query: { page_size: 10 } } });
const users = bodyOf(await listUsers()).map(({ id, scopes }) => ({ id, scopes }));
const { url: portal } = bodyOf(await partner.GET('/webhook_portal'));

const timestamp = '2026-03-02T17:42:10Z';
for (const event of [
  { type: 'charging_session.ended', data: { id: 's1', energy_kwh: 11.52 } },
  { type: 'vehicle.updated', data: { id: 'v1', make: 'Example Motors' } },
])
  bodyOf(await operator.POST('/v2/events', { body: { ...event, user_id, timestamp } }));
const events = (await receiver.received(3)).map(describeEvent).sort();

// A revoked token is refused, and the operator removes the client.
bodyOf(await visitor.POST('/o/revoke_token/', { body: { token, ...credentials }, headers: FORM }));
const { error: refusal } = await listUsers();
const changed = bodyOf(
  await operator.PATCH('/admin/clients/{client_id}', {
    ...ofClient,
    body: { name: 'Route planner', rate_limit: 50 },
  }),
);
if (!('name' in changed)) throw new Error('The change waits for a second admin.');
const { name, rate_limit } = changed;
const deleted = (await operator.DELETE('/admin/clients/{client_id}', ofClient)).response.status;
const { error: missing } = await operator.GET('/admin/clients/{client_id}', ofClient);

process.stdout.write(
  JSON.stringify({
    ids: { owner_id, user_id, client_id },
    users,
    portal,
    events,
    refusal: refusal && [refusal.status, refusal.title],
    changed: { name, rate_limit },
    deleted,
    missing: missing && [missing.status, missing.title],
  }),
);

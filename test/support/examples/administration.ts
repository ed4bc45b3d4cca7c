import { until } from '../until.js';
import { SCOPES, type Stage } from './stage.js';

/** Users with their password links and mails, the scopes, the clients and their secrets. */
export async function recordAdministration(stage: Stage): Promise<void> {
  await recordUsers(stage);
  await recordScopes(stage);
  await recordPurposes(stage);
  await recordEventTypes(stage);
  await recordClients(stage);
  await recordConsents(stage);
  await recordInvitations(stage);
}

/** Of operators, by the client of an admin; a service of the company has nobody to stand behind one. */
async function recordInvitations(stage: Stage): Promise<void> {
  const admin = await stage.service.make.user({
    email: 'olivia@charging.example',
    name: 'Olivia',
    role: 'operator',
    operatorRole: 'admin',
  });
  const bearer = await stage.service.make.adminToken(['admin:read', 'admin:write'], admin);
  const json = { email: 'olga@charging.example', role: 'support' };
  const { id } = (await stage.operator('inviteOperator', 201, { bearer, json })).json as { id: string };
  await stage.conflict('inviteOperator', { json });
  await stage.operator('listOperatorInvitations', 200);
  await stage.operator('withdrawOperatorInvitation', 204, { path: { id } });
}

async function recordUsers(stage: Stage): Promise<void> {
  const json = { email: 'grace@mail.example', name: 'Grace', kind: 'individual', email_verified: true };
  const { id } = (await stage.operator('createUser', 201, { json })).json as { id: string };
  await stage.conflict('createUser', { json });
  const path = { id };
  await stage.operator('listAdminUsers', 200, { query: { q: 'mail.example', page_size: 2 } });
  await stage.operator('updateUser', 200, { path, json: { name: 'Grace H.', webhooks_enabled: false } });
  await stage.conflict('updateUser', { path, json: { email: stage.cast.ada.email } });
  await stage.operator('createPasswordLink', 201, { path });
  await stage.conflict('eraseUser', { path: { id: stage.cast.owner.id } });
  await recordMails(stage, id);
}

/** What the user was told of these changes. */
async function recordMails(stage: Stage, userId: string): Promise<void> {
  const isWaiting = "SELECT 1 FROM mails WHERE state = 'pending'";
  await until('the mails are sent', async () => (await stage.service.database.query(isWaiting)).length === 0);
  await stage.operator('listMails', 200, { query: { user_id: userId, state: 'sent', page_size: 2 } });
}

async function recordScopes(stage: Stage): Promise<void> {
  const path = { name: 'tariff:read' };
  const json = { description: 'See your tariffs', audience: 'partner' };
  await stage.operator('listScopes', 200);
  await stage.operator('getScope', 200, { path: { name: 'vehicle:read' } });
  await stage.operator('putScope', 201, { path, json });
  await stage.operator('putScope', 200, {
    path,
    json: { ...json, description: 'See your tariffs and their prices' },
  });
  await stage.conflict('putScope', {
    path: { name: 'vehicle:read' },
    json: { description: 'See your vehicles', audience: 'operator' },
  });
}

async function recordPurposes(stage: Stage): Promise<void> {
  const path = { name: 'route_planning' };
  const words = { en: 'To plan routes with charging stops', de: 'Um Routen mit Ladepausen zu planen' };
  await stage.operator('putPurpose', 201, { path, json: { words: { en: words.en } } });
  await stage.operator('putPurpose', 200, { path, json: { words } });
  await stage.operator('listPurposes', 200);
  await stage.operator('getPurpose', 200, { path });
  // One that a client declares stays.
  await stage.service.make.updateClient(stage.cast.partner, { purposes: [path.name] });
  await stage.conflict('deletePurpose', { path });
  await stage.service.make.updateClient(stage.cast.partner, { purposes: [] });
  await stage.operator('deletePurpose', 204, { path });
}

async function recordEventTypes(stage: Stage): Promise<void> {
  const name = 'tariff.changed';
  const json = {
    description: 'The price of charging changed.',
    scope: 'tariff:read',
    sample: { id: 'night', price_per_kwh: 0.19 },
    resource: '/id',
  };
  const schema = {
    type: 'object',
    properties: { id: { type: 'string' }, price_per_kwh: { type: 'number', minimum: 0 } },
    required: ['id'],
  };
  await stage.operator('putEventType', 201, { path: { name }, json });
  await stage.operator('putEventType', 200, {
    path: { name },
    json: { ...json, description: 'The price of charging changes.' },
  });
  await stage.conflict('putEventType', { path: { name: 'webhook.test' }, json });
  const path = { name, version: '1' };
  const missing = { path: { name: 'tariff.none', version: '1' } };
  await stage.operator('putEventTypeVersion', 201, { path, json: { schema, draft: true } }, { missing });
  await stage.operator('putEventTypeVersion', 200, { path, json: { schema } });
  await stage.conflict('putEventTypeVersion', {
    path: { name: 'webhook.test', version: '2' },
    json: { schema },
  });
  await stage.operator('getEventType', 200, { path: { name } });
  await stage.operator('listAdminEventTypes', 200);
  await stage.perform('listEventTypes', 200, {}, {});
  await stage.perform('getEventSchema', 200, { path }, {});
}

async function recordClients(stage: Stage): Promise<void> {
  const { owner } = stage.cast;
  const json = {
    name: 'Trip diary',
    organisation: 'Diary GmbH',
    site: 'https://diary.example.com',
    privacy_policy: 'https://diary.example.com/privacy',
    type: 'confidential',
    grant_types: ['authorization_code', 'client_credentials'],
    scopes: SCOPES,
    redirect_uris: ['https://diary.example.com/callback'],
    owner_id: owner.id,
    rate_limit: 5000,
  };
  const { client_id } = (await stage.operator('createClient', 201, { json })).json as { client_id: string };
  const path = { client_id };
  await stage.operator('listClients', 200, { query: { q: 'Trip', page_size: 2 } });
  await stage.operator('getClient', 200, { path });
  await stage.operator('updateClient', 200, { path, json: { name: 'Travel diary', rate_limit: null } });
  await stage.operator('rotateClientSecret', 201, { path, json: { expire_previous_in: 86_400 } });
  const { id } = await stage.service.make.client({ name: 'App', type: 'public', ownerId: owner.id });
  await stage.conflict('rotateClientSecret', { path: { client_id: id }, json: {} });
  await stage.operator('listAuditEvents', 200, { query: { subject: client_id, page_size: 2 } });
  await stage.operator('revokeClientTokens', 200, { path });
  await stage.operator('deleteClient', 204, { path });
}

async function recordConsents(stage: Stage): Promise<void> {
  const { ada, partner } = stage.cast;
  const path = { client_id: partner.id, user_id: ada.id };
  await stage.operator('recordConsent', 200, {
    path,
    json: { scopes: SCOPES, evidence: 'Signed form of 2 March 2026' },
  });
  await stage.operator('listConsents', 200, { path: { client_id: partner.id }, query: { page_size: 2 } });
}

/** What ends access; after everything else. */
export async function recordEndings(stage: Stage): Promise<void> {
  const { ada, partner } = stage.cast;
  const grants = await stage.operator('listGrants', 200, { query: { user_id: ada.id, page_size: 2 } });
  const [grant] = grants.json as { id: string }[];
  await stage.operator('revokeGrant', 204, { path: { id: grant!.id } });
  await stage.operator('revokeUserTokens', 200, { path: { id: ada.id } });
  await stage.operator('revokeConsent', 204, { path: { client_id: partner.id, user_id: ada.id } });
  await stage.operator('eraseUser', 204, { path: { id: ada.id } });
}

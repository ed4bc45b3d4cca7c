import type { Http } from '../http.js';
import { addApp } from '../second-factors.js';
import { startInstance } from '../test-service.js';
import type { Stage } from './stage.js';

/**
 * What waits for a second admin, on an instance with FOUR_EYES. That instance must not run while webhooks are recorded: its worker
 * would deliver them.
 */
export async function recordApprovals(stage: Stage): Promise<void> {
  const { service } = stage;
  const instance = await startInstance(service.database, { BASE_URL: service.url, FOUR_EYES: 'true' });
  try {
    await recordDecisions(stage, instance.http);
  } finally {
    await instance.app.close();
  }
}

async function recordDecisions(stage: Stage, http: Http): Promise<void> {
  const { make } = stage.service;
  const joan = await make.user({ email: 'joan@charging.example', name: 'Joan' });
  const old = await make.client({ name: 'Old diary', ownerId: stage.cast.owner.id });
  const ask = async (id: string, call: object) =>
    (await stage.operator(id, 202, { http, ...call })).json.id as string;
  const erasing = await ask('eraseUser', { path: { id: joan.id } });
  const admin = { role: 'operator', operator_role: 'admin' };
  await ask('updateUser', { path: { id: joan.id }, json: admin });
  const deleting = await ask('deleteClient', { path: { client_id: old.id } });
  await stage.operator('listApprovals', 200, { http, query: { state: 'pending', page_size: 2 } });
  await stage.operator('approve', 403, { http, path: { id: deleting } });
  await recordWaiting(stage, http);
  const rejected = { http, path: { id: erasing } };
  await stage.operator('reject', 200, rejected);
  await stage.conflict('reject', rejected);
}

/** What makes or takes over an operator waits too, and clients of the admin API. */
async function recordWaiting(stage: Stage, http: Http): Promise<void> {
  const { make } = stage.service;
  const edith = await make.user({ email: 'edith@charging.example', name: 'Edith', role: 'operator' });
  await addApp(await make.signedIn(edith));
  await stage.service.database.query(
    `INSERT INTO identities (issuer, subject, user_id, provider)
     SELECT 'https://login.charging.example', 'edith ' || p, $1, p FROM unnest(ARRAY['company', 'partners']) AS p`,
    [edith.id],
  );
  const tools = await make.client({
    name: 'Edith’s tools',
    ownerId: edith.id,
    scopes: ['admin:read', 'admin:write'],
    grantTypes: ['client_credentials'],
    redirectUris: [],
  });
  const user = { http, path: { id: edith.id } };
  const client = { http, path: { client_id: tools.id } };
  await stage.operator('createPasswordLink', 202, user);
  await stage.operator('resetSecondFactor', 202, user);
  await stage.operator('removeIdentity', 202, { http, path: { id: edith.id, provider: 'company' } });
  await stage.conflict('removeIdentity', { http, path: { id: edith.id, provider: 'partners' } });
  await stage.operator('rotateClientSecret', 202, { ...client, json: { expire_previous_in: 3600 } });
  await stage.operator('updateClient', 202, { ...client, json: { company_service: true } });
  await stage.conflict('updateClient', { ...client, json: { company_service: true, name: 'Tools' } });
  const robot = {
    name: 'Night robot',
    type: 'confidential',
    grant_types: ['client_credentials'],
    scopes: ['admin:read', 'admin:write'],
    owner_id: edith.id,
  };
  await stage.operator('createClient', 202, { http, json: robot });
}

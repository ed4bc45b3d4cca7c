import type { Http } from '../http.js';
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
  const second = await secondAdmin(stage);
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
  const approved = { http, path: { id: deleting } };
  const sameAdmin = { bearer: stage.operatorToken };
  await stage.operator('approve', 200, { ...approved, bearer: second }, { forbidden: sameAdmin });
  await stage.conflict('approve', approved);
  const rejected = { http, path: { id: erasing } };
  await stage.operator('reject', 200, rejected);
  await stage.conflict('reject', rejected);
}

/** A token of an admin who stands behind none of the other clients. */
async function secondAdmin({ service: { make } }: Stage): Promise<string> {
  const { id: ownerId } = await make.user({
    email: 'edith@charging.example',
    name: 'Edith',
    role: 'operator',
  });
  const scopes = ['admin:read', 'admin:write'];
  const grantTypes = ['client_credentials' as const];
  return make.clientToken(
    await make.client({ name: 'Edith’s tools', ownerId, scopes, grantTypes, redirectUris: [] }),
  );
}

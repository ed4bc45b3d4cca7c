import { until } from '../until.js';
import { NOW } from './fixed-values.js';
import type { Stage } from './stage.js';

const ENDPOINTS_PER_CLIENT = 50;

/** Webhook endpoints, an event and its delivery. */
export async function recordWebhooks(stage: Stage): Promise<void> {
  const { partner, ada } = stage.cast;
  const json = {
    url: `${stage.receiver.url}/charging`,
    description: 'Charging sessions',
    event_types: ['charging_session.created', 'charging_session.ended'],
  };
  const created = await stage.operator('createWebhookEndpoint', 201, {
    path: { client_id: partner.id },
    json,
  });
  const path = { id: created.json.id as string };
  await stage.operator('listWebhookEndpoints', 200, {
    path: { client_id: partner.id },
    query: { page_size: 2 },
  });
  await stage.operator('getWebhookEndpoint', 200, { path });
  const event = {
    type: 'charging_session.created',
    user_id: ada.id,
    timestamp: NOW,
    data: {
      id: '7b1c5a52-0c3e-4f0b-9d43-6f4a2a1f6a10',
      vehicle_id: '3f7d2f8e-5f0c-4f5b-8a55-0b9e7c1d2e33',
      plugged_in_at: NOW,
      state: 'plugged_in',
      energy_kwh: 0,
    },
  };
  const headers = { 'idempotency-key': 'session-7b1c5a52-created' };
  await stage.operator('publishEvent', 202, { json: event, headers });
  await stage.recorder.answer('publishEvent', 422, {
    bearer: stage.operatorToken,
    json: { ...event, data: { ...event.data, energy_kwh: 1.5 } },
    headers,
  });
  await recordDelivery(stage);
  const authentication = {
    ...{ type: 'client_credentials', token_url: `${stage.receiver.url}/oauth2/token` },
    ...{ client_id: 'charging-data', client_secret: 'a-secret-of-the-receiver', scope: 'events.write' },
  };
  const changes = { enabled: false, signature_versions: ['v1', 'v1a'], authentication };
  await stage.operator('updateWebhookEndpoint', 200, { path, json: changes });
  await stage.perform('webhookKeys', 200, { path: { client_id: partner.id } }, {});
  await stage.operator('deleteWebhookEndpoint', 204, { path });
  await recordTooManyEndpoints(stage, json);
}

async function recordDelivery(stage: Stage): Promise<void> {
  const delivered = async () => {
    const sql = "SELECT id FROM deliveries WHERE state = 'delivered' AND lease_id IS NULL";
    return (await stage.service.database.query<{ id: string }>(sql))[0]?.id;
  };
  await until('the event is delivered', async () => (await delivered()) !== undefined);
  const path = { id: (await delivered())! };
  await stage.operator('listDeliveries', 200, { query: { state: 'delivered', page_size: 2 } });
  await stage.operator('getDelivery', 200, { path });
  stage.receiver.hold();
  const { received } = stage.receiver;
  await stage.operator('resendDelivery', 202, { path });
  await until('it is being attempted', () => stage.receiver.received > received);
  await stage.conflict('resendDelivery', { path });
  stage.receiver.release();
  await until('it is delivered again', async () => (await delivered()) !== undefined);
}

async function recordTooManyEndpoints(stage: Stage, json: object): Promise<void> {
  const { other } = stage.cast;
  const call = { bearer: stage.operatorToken, path: { client_id: other.id }, json };
  await stage.recorder.answer('createWebhookEndpoint', 201, call);
  await stage.service.database.query(
    `INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
     SELECT 'endp' || lpad(n::text, 18, '0') || right(client_id, 8), client_id, url, event_types, sealed_secret
       FROM webhook_endpoints, generate_series(2, $2) n WHERE client_id = $1`,
    [other.id, ENDPOINTS_PER_CLIENT],
  );
  await stage.conflict('createWebhookEndpoint', call);
}

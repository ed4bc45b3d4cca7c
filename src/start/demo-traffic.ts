import type { EntityManager } from 'typeorm';
import { ulid } from 'ulid';
import { EVERYBODY } from '../activity/activity.js';
import { EVENT_TYPES } from '../../migrations/event-types.js';
import { payloadOf } from '../webhooks/events/event.js';
import { makeEndpointSecret } from '../webhooks/signing/endpoint-secret.js';
import { sealEndpointSecret } from '../webhooks/signing/sealed-secret.js';
import { signDelivery } from '../webhooks/signing/sign-delivery.js';

const HOUR_MS = 3_600_000;
const HOURS = 6 * 24;
/** Events in an hour of the day (UTC), from midnight on: drivers come home in the evening. */
const RHYTHM = [2, 1, 1, 1, 1, 2, 4, 6, 5, 3, 2, 3, 3, 3, 3, 4, 6, 9, 10, 9, 7, 6, 4, 3];
const TYPES = EVENT_TYPES.filter(([, , publisher]) => publisher === 'services');

export interface DemoTraffic {
  clientId: string;
  /** The drivers who share data with the client. */
  drivers: string[];
  encryptionKey: Buffer;
}

interface DemoEndpoint {
  id: string;
  secret: string;
  url: string;
  description: string;
  /** What it answered at a time. */
  statusAt(time: Date): number;
}

interface DemoEvent {
  id: string;
  type: string;
  userId: string;
  payload: string;
  time: Date;
}

/** Days of events with their deliveries, as if they had happened, for the pictures of portal and console. Nothing is sent. */
export async function seedTraffic(manager: EntityManager, traffic: DemoTraffic): Promise<void> {
  const now = new Date();
  const endpoints = makeEndpoints(now);
  const events = makeEvents(traffic.drivers, now);
  for (const endpoint of endpoints) await insertEndpoint(manager, traffic, endpoint);
  await manager.query(
    `INSERT INTO events (id, type, user_id, payload, deliveries, created_at)
     SELECT id, type, user_id, payload, $5, to_timestamp(ms / 1000.0)
       FROM unnest($1::text[], $2::text[], $3::text[], $4::text[], $6::bigint[]) AS e (id, type, user_id, payload, ms)`,
    [
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      events.map(({ userId }) => userId),
      events.map(({ payload }) => payload),
      endpoints.length,
      events.map(({ time }) => time.getTime()),
    ],
  );
  await insertActivity(manager, traffic.clientId);
  for (const endpoint of endpoints) await insertDeliveries(manager, traffic.clientId, endpoint, events);
  await manager.query(
    `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
     SELECT d.endpoint_id, date_trunc('hour', a.attempted_at, 'UTC'), count(*) FILTER (WHERE a.status < 300),
            count(*) FILTER (WHERE a.status >= 300), sum(a.duration_ms), max(a.duration_ms)
       FROM delivery_attempts a JOIN deliveries d ON d.id = a.delivery_id GROUP BY 1, 2`,
  );
}

/** One that is well, with a hiccup now and then; and one that has answered 503 for some hours. */
const makeEndpoints = (now: Date): DemoEndpoint[] => [
  {
    id: `endp${ulid(now.getTime() - HOURS * HOUR_MS)}`,
    secret: makeEndpointSecret(),
    url: 'https://hooks.northwind.example/charging',
    description: 'Charging sessions into the tariff engine',
    statusAt: () => (Math.random() < 0.02 ? 500 : 204),
  },
  {
    id: `endp${ulid(now.getTime() - (HOURS - 2) * HOUR_MS)}`,
    secret: makeEndpointSecret(),
    url: 'https://fleet.northwind.example/events',
    description: 'Fleet dashboard',
    statusAt: (time) => (now.getTime() - time.getTime() < 3 * HOUR_MS ? 503 : 200),
  },
];

function makeEvents(drivers: string[], now: Date): DemoEvent[] {
  const events: DemoEvent[] = [];
  for (let hoursAgo = HOURS; hoursAgo > 0; hoursAgo--) {
    const begin = now.getTime() - hoursAgo * HOUR_MS;
    const count = Math.round(RHYTHM[new Date(begin).getUTCHours()]! * (0.7 + 0.6 * Math.random()));
    for (let n = 0; n < count; n++) {
      const time = new Date(begin + Math.floor((HOUR_MS * (n + Math.random())) / count));
      const [type, , , , sample] = TYPES[Math.floor(Math.random() * TYPES.length)]!;
      const userId = drivers[Math.floor(Math.random() * drivers.length)]!;
      const payload = payloadOf(type, time.toISOString(), userId, sample);
      events.push({ id: `evnt${ulid(time.getTime())}`, type, userId, payload, time });
    }
  }
  return events;
}

async function insertEndpoint(
  manager: EntityManager,
  { clientId, encryptionKey }: DemoTraffic,
  { id, secret, url, description }: DemoEndpoint,
): Promise<void> {
  await manager.query(
    `INSERT INTO webhook_endpoints (id, client_id, url, description, event_types, sealed_secret, last_attempt_at, created_at)
     VALUES ($1, $2, $3, $4, $5, $6, now(), now() - make_interval(hours => $7))`,
    [
      id,
      clientId,
      url,
      description,
      TYPES.map(([name]) => name),
      sealEndpointSecret(encryptionKey, id, secret),
      HOURS,
    ],
  );
}

async function insertDeliveries(
  manager: EntityManager,
  clientId: string,
  endpoint: DemoEndpoint,
  events: DemoEvent[],
): Promise<void> {
  const statuses = events.map(({ time }) => endpoint.statusAt(time));
  const ids = events.map(({ time }) => `dlvr${ulid(time.getTime())}`);
  const signatures = events.map(({ time, payload }, n) =>
    signDelivery([endpoint.secret], {
      id: ids[n]!,
      timestamp: Math.floor(time.getTime() / 1000),
      body: payload,
    }),
  );
  await manager.query(
    `WITH made AS (
       SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::bigint[], $6::int[],
                              $9::text[])
                  AS m (id, event_id, event_type, status, ms, duration_ms, signature)
     ), delivery AS (
       INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, state, attempts, next_attempt_at,
                               created_at, finished_at)
       SELECT id, event_id, event_type, $7, $8, CASE WHEN status < 300 THEN 'delivered' ELSE 'failed' END, 1, NULL,
              to_timestamp(ms / 1000.0), to_timestamp((ms + duration_ms) / 1000.0)
         FROM made
     )
     INSERT INTO delivery_attempts (delivery_id, number, attempted_at, duration_ms, status, response_start, signature)
     SELECT id, 1, to_timestamp(ms / 1000.0), duration_ms, status,
            CASE status WHEN 503 THEN 'upstream is restarting' WHEN 500 THEN 'unexpected error' ELSE '' END, signature
       FROM made`,
    [
      ids,
      events.map(({ id }) => id),
      events.map(({ type }) => type),
      statuses,
      events.map(({ time }) => time.getTime()),
      statuses.map(() => Math.round(40 + 160 * Math.random() ** 3)),
      endpoint.id,
      clientId,
      signatures,
    ],
  );
}

/** What was counted by the hour, of the client and of everybody: tokens, refusals and sign-ins. */
async function insertActivity(manager: EntityManager, clientId: string): Promise<void> {
  await manager.query(
    `INSERT INTO activity_hours (client_id, hour, kind, detail, count, last_at)
     SELECT who.id, hour, kind, detail, greatest(1, round(usual * (0.6 + 0.8 * random())))::bigint, hour + interval '50 minutes'
       FROM generate_series(date_trunc('hour', now(), 'UTC') - make_interval(hours => $2),
                            date_trunc('hour', now(), 'UTC') - interval '1 hour', interval '1 hour') AS hour,
            (VALUES ('token_issued', 'client_credentials', 24, 1.0), ('token_issued', 'refresh_token', 60, 1.0),
                    ('token_issued', 'authorization_code', 4, 0.7), ('token_refused', 'wrong_secret', 2, 0.1),
                    ('token_refused', 'invalid_grant', 2, 0.3), ('bearer_refused', 'token_expired', 5, 0.5),
                    ('rate_limited', 'partner', 40, 0.04), ('sign_in', 'password', 6, 0.8),
                    ('sign_in_refused', 'password', 2, 0.4)) AS usually (kind, detail, usual, share),
            (VALUES ($1), ($3)) AS who (id)
      -- The hour stands in it so that it is thrown for each hour anew.
      WHERE random() + 0 * extract(epoch FROM hour) < share AND (who.id = $3 OR kind NOT LIKE 'sign_in%')`,
    [clientId, HOURS, EVERYBODY],
  );
}

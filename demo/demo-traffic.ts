import type { EntityManager } from 'typeorm';
import { ulid } from 'ulid';
import { HOUR_MS } from '#platform/config/durations.js';
import { EVENT_TYPES } from '../migrations/event-types.js';
import { waitBeforeRetry } from '#events/webhooks/deliveries/retry-schedule.js';
import { payloadOf } from '#events/webhooks/events/event.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { makeEndpointSecret, signDelivery, signingKeyOf } from '#events/webhooks/signing/sign-delivery.js';
import { sessionsOf } from './demo-sessions.js';

/** How far the past of the demonstration goes back. */
export const TRAFFIC_HOURS = 6 * 24;
const ADDED_HOURS_AGO = TRAFFIC_HOURS + 1;
/** So many of the last events have not reached the second endpoint, which has been failing since then. */
const UNDELIVERED = 30;
const TYPES = EVENT_TYPES.filter(([, , publisher]) => publisher === 'services');
export const SERVICE_EVENT_TYPES = TYPES.map(([name]) => name);

export interface DemoTraffic {
  clientId: string;
  /** The drivers who share data with the client. */
  drivers: string[];
  encryptionKeys: readonly Buffer[];
  /** Seconds between attempts. */
  retrySchedule: readonly number[];
}

interface DemoEndpoint {
  id: string;
  secret: string;
  url: string;
  description: string;
  /** The most attempts that start in a minute. */
  maxPerMinute?: number | null;
  /** Its own headers. */
  headers?: Record<string, string>;
  /** The status of its response at a time. */
  statusAt(time: Date): number;
}

interface DemoEvent {
  id: string;
  type: string;
  userId: string;
  /** What it is about. */
  resourceId: string;
  payload: string;
  sequence: number;
  time: Date;
}

interface DemoAttempt {
  time: number;
  status: number;
  durationMs: number;
}

/** A delivery in the state in which the worker would have left it. */
interface DemoDelivery {
  id: string;
  event: DemoEvent;
  attempts: DemoAttempt[];
  state: 'delivered' | 'failed' | 'pending';
  /** The due time of a pending delivery. */
  dueAt: number | null;
}

/**
 * Inserts days of past events with their deliveries and retries, for the charts of portal and console. The worker retries what is
 * still pending like any other delivery; its host does not exist. Returns when the events happened.
 */
export async function seedTraffic(manager: EntityManager, traffic: DemoTraffic): Promise<Date[]> {
  const now = new Date();
  const events = makeEvents(traffic.drivers, now);
  const endpoints = makeEndpoints(now, events.at(-UNDELIVERED)?.time ?? now);
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
  await insertSequences(manager, events);
  for (const endpoint of endpoints) {
    const deliveries = events.map((event) => deliver(endpoint, event, traffic.retrySchedule, now));
    await insertDeliveries(manager, traffic.clientId, endpoint, deliveries);
    await setLastAttempts(manager, endpoint, deliveries);
  }
  await manager.query(
    `INSERT INTO webhook_endpoint_hours (endpoint_id, hour, delivered, failed, duration_ms, slowest_ms)
     SELECT d.endpoint_id, date_trunc('hour', a.attempted_at, 'UTC'), count(*) FILTER (WHERE a.status < 300),
            count(*) FILTER (WHERE a.status >= 300), sum(a.duration_ms), max(a.duration_ms)
       FROM delivery_attempts a JOIN deliveries d ON d.id = a.delivery_id GROUP BY 1, 2`,
  );
  return events.map(({ time }) => time);
}

/**
 * One healthy endpoint with occasional failures; and one that was down for days, so that its early deliveries failed permanently,
 * and that has been responding with 503 again since a time.
 */
function makeEndpoints(now: Date, failsSince: Date): DemoEndpoint[] {
  let attempts = 0;
  return [
    {
      id: `endp${ulid(now.getTime() - ADDED_HOURS_AGO * HOUR_MS)}`,
      secret: makeEndpointSecret(),
      url: 'https://hooks.northwind.example/charging',
      description: 'Charging sessions into the tariff engine',
      // Every fiftieth, from an early one on.
      statusAt: () => (++attempts % 50 === 7 ? 500 : 204),
    },
    {
      id: `endp${ulid(now.getTime() - ADDED_HOURS_AGO * HOUR_MS)}`,
      secret: makeEndpointSecret(),
      url: 'https://fleet.northwind.example/events',
      description: 'Fleet dashboard',
      maxPerMinute: 30,
      headers: { 'x-tenant': 'northwind' },
      statusAt: (time) => {
        const hoursAgo = (now.getTime() - time.getTime()) / HOUR_MS;
        return time >= failsSince || hoursAgo > 56 ? 503 : 200;
      },
    },
  ];
}

/** Attempts until one succeeds, the schedule is used up, or the next one is in the future. */
function deliver(
  { statusAt }: DemoEndpoint,
  event: DemoEvent,
  retrySchedule: readonly number[],
  now: Date,
): DemoDelivery {
  const id = `dlvr${ulid(event.time.getTime())}`;
  const attempts: DemoAttempt[] = [];
  let time = event.time.getTime();
  while (time <= now.getTime()) {
    const status = statusAt(new Date(time));
    const durationMs = Math.round(40 + 160 * Math.random() ** 3);
    attempts.push({ time, status, durationMs });
    if (isGood(status)) return { id, event, attempts, state: 'delivered', dueAt: null };
    const wait = waitBeforeRetry(retrySchedule, attempts.length - 1);
    if (wait === undefined) return { id, event, attempts, state: 'failed', dueAt: null };
    time += durationMs + Math.round(wait * 1000);
  }
  return { id, event, attempts, state: 'pending', dueAt: time };
}

const isGood = (status: number): boolean => status < 300;

/** The sessions of the drivers, whose events are numbered. */
function makeEvents(drivers: string[], now: Date): DemoEvent[] {
  const numbers = new Map<string, number>();
  return sessionsOf(drivers, new Date(now.getTime() - TRAFFIC_HOURS * HOUR_MS), now).map(
    ({ at: time, type, userId, data }) => {
      const id = `evnt${ulid(time.getTime())}`;
      const content = { type, timestamp: time.toISOString(), userId, data };
      const { id: resourceId } = data as { id: string };
      const thing = `${userId} ${familyOf(type)} ${resourceId}`;
      const sequence = (numbers.get(thing) ?? 0) + 1;
      numbers.set(thing, sequence);
      const payload = JSON.stringify({ ...(JSON.parse(payloadOf(id, content)) as object), sequence });
      return { id, type, userId, resourceId, payload, sequence, time };
    },
  );
}

const familyOf = (type: string): string => type.split('.')[0]!;

/** The numbers go on where these events ended. */
async function insertSequences(manager: EntityManager, events: DemoEvent[]): Promise<void> {
  await manager.query(
    `INSERT INTO event_sequences (user_id, family, resource_id, last)
     SELECT user_id, split_part(type, '.', 1), resource_id, max(sequence)
       FROM unnest($1::text[], $2::text[], $3::text[], $4::int[]) AS e (user_id, type, resource_id, sequence)
      GROUP BY 1, 2, 3`,
    [
      events.map(({ userId }) => userId),
      events.map(({ type }) => type),
      events.map(({ resourceId }) => resourceId),
      events.map(({ sequence }) => sequence),
    ],
  );
}

async function insertEndpoint(
  manager: EntityManager,
  { clientId, encryptionKeys }: DemoTraffic,
  { id, secret, url, description, maxPerMinute = null, headers = {} }: DemoEndpoint,
): Promise<void> {
  const names = Object.keys(headers);
  await manager.query(
    `INSERT INTO webhook_endpoints (id, client_id, url, description, event_types, sealed_secret, created_at, max_per_minute,
                                    header_names, sealed_headers)
     VALUES ($1, $2, $3, $4, $5, $6, now() - make_interval(hours => $7), $8, $9, $10)`,
    [
      id,
      clientId,
      url,
      description,
      SERVICE_EVENT_TYPES,
      new SealedBox('webhook endpoint secret', encryptionKeys).seal(secret, id),
      ADDED_HOURS_AGO,
      maxPerMinute,
      names,
      names.length === 0
        ? null
        : new SealedBox('webhook endpoint headers', encryptionKeys).seal(JSON.stringify(headers), id),
    ],
  );
  if (maxPerMinute !== null) {
    await manager.query('INSERT INTO webhook_throttles (endpoint_id) VALUES ($1)', [id]);
  }
}

async function insertDeliveries(
  manager: EntityManager,
  clientId: string,
  { id: endpointId, secret, url, headers = {} }: DemoEndpoint,
  deliveries: DemoDelivery[],
): Promise<void> {
  await manager.query(
    `INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, state, attempts, retries, next_attempt_at, due_at,
                             created_at, finished_at)
     SELECT id, event_id, event_type, $1, $2, state, attempts, attempts - (state <> 'pending')::int,
            to_timestamp(due_ms / 1000.0), to_timestamp(due_ms / 1000.0), to_timestamp(ms / 1000.0),
            CASE WHEN state <> 'pending' THEN to_timestamp(end_ms / 1000.0) END
       FROM unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::int[], $8::bigint[], $9::bigint[], $10::bigint[])
              AS d (id, event_id, event_type, state, attempts, due_ms, ms, end_ms)`,
    [
      endpointId,
      clientId,
      deliveries.map(({ id }) => id),
      deliveries.map(({ event }) => event.id),
      deliveries.map(({ event }) => event.type),
      deliveries.map(({ state }) => state),
      deliveries.map(({ attempts }) => attempts.length),
      deliveries.map(({ dueAt }) => dueAt),
      deliveries.map(({ event }) => event.time.getTime()),
      deliveries.map(({ attempts }) => attempts.at(-1)!).map(({ time, durationMs }) => time + durationMs),
    ],
  );
  const made = deliveries.flatMap(({ id, event, attempts }) =>
    attempts.map((attempt, index) => ({
      ...attempt,
      id,
      number: index + 1,
      signature: signDelivery([signingKeyOf(secret)], {
        id,
        timestamp: Math.floor(attempt.time / 1000),
        body: event.payload,
      }),
    })),
  );
  await manager.query(
    `INSERT INTO delivery_attempts (delivery_id, number, attempted_at, duration_ms, status, response_start, signature, url,
                                    own_headers, response_headers)
     SELECT id, number, to_timestamp(ms / 1000.0), duration_ms, status,
            CASE status WHEN 503 THEN 'upstream is restarting' WHEN 500 THEN 'unexpected error' ELSE '' END, signature, $7, $8,
            jsonb_build_array(jsonb_build_array('server', 'northwind-gateway'), jsonb_build_array('content-type', 'text/plain'))
       FROM unnest($1::text[], $2::int[], $3::bigint[], $4::int[], $5::int[], $6::text[])
              AS a (id, number, ms, duration_ms, status, signature)`,
    [
      made.map(({ id }) => id),
      made.map(({ number }) => number),
      made.map(({ time }) => time),
      made.map(({ durationMs }) => durationMs),
      made.map(({ status }) => status),
      made.map(({ signature }) => signature),
      url,
      Object.keys(headers),
    ],
  );
}

/** Sets the last attempt of the endpoint, and since when it has been failing. */
async function setLastAttempts(
  manager: EntityManager,
  { id }: DemoEndpoint,
  deliveries: DemoDelivery[],
): Promise<void> {
  const attempts = deliveries.flatMap((delivery) => delivery.attempts);
  attempts.sort((one, other) => one.time - other.time);
  const lastGood = attempts.findLastIndex(({ status }) => isGood(status));
  await manager.query(
    `UPDATE webhook_endpoints
        SET last_attempt_at = to_timestamp($2::bigint / 1000.0), failing_since = to_timestamp($3::bigint / 1000.0)
      WHERE id = $1`,
    [id, attempts.at(-1)?.time ?? null, attempts[lastGood + 1]?.time ?? null],
  );
}

import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '#platform/database/connections/data-source.js';
import { WorkerStatements } from '#platform/database/queries/worker-statements.js';
import { newId } from '#platform/secrets/ids.js';
import { DeliveryEntity } from '#events/webhooks/deliveries/delivery.entity.js';
import { DeliveryQueueRepository } from '#events/webhooks/deliveries/delivery-queue.repository.js';
import type { ClaimedDelivery, FinishedClaim } from '#events/webhooks/deliveries/claimed-delivery.js';
import { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { EventEntity } from '#events/webhooks/events/event.entity.js';
import { settled as settledIn } from './settled.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';

/** More than there are in any test. */
export const MANY = 10_000;
/** Of all endpoints. */
export const RECEIVER_URL = 'https://x.example/';
export const ATTEMPT = { attemptedAt: new Date(), durationMs: 12, signature: 'v1,x', url: RECEIVER_URL };

interface Row {
  id: string;
  state: string;
  attempts: number;
  retries: number;
  lease_id: string | null;
  wait: number | null;
}

/** Two instances' queues of deliveries on a database of the test file's own, which is emptied after each test. */
export function useDeliveryQueues() {
  const stage = {} as {
    database: TestDatabase;
    sources: DataSource[];
    statements: WorkerStatements[];
    queue: DeliveryQueueRepository;
    other: DeliveryQueueRepository;
  };

  beforeAll(async () => {
    stage.database = await createTestDatabase();
    const entities = [DeliveryEntity, EndpointEntity, EventEntity];
    stage.sources = await Promise.all(
      [1, 2].map(() =>
        new DataSource({ ...dataSourceOptions(stage.database.url, 8), entities }).initialize(),
      ),
    );
    stage.statements = stage.sources.map(() => new WorkerStatements({ databaseUrl: stage.database.url }));
    [stage.queue, stage.other] = stage.sources.map(
      (source, n) => new DeliveryQueueRepository(source.getRepository(DeliveryEntity), stage.statements[n]!),
    ) as [DeliveryQueueRepository, DeliveryQueueRepository];
  });
  afterEach(() => query('TRUNCATE users CASCADE'));
  afterAll(async () => {
    await Promise.all(stage.sources.map((source) => source.destroy()));
    await Promise.all(stage.statements.map((statements) => statements.onApplicationShutdown()));
    await stage.database.drop();
  });

  const query = <T = Record<string, unknown>>(sql: string, params: unknown[] = []) =>
    stage.database.query<T>(sql, params);

  /** A client of a new owner, who has consented to it. */
  async function makeClient(): Promise<{ clientId: string; userId: string }> {
    const [clientId, userId] = [newId('clnt'), newId('user')];
    await query(
      "INSERT INTO users (id, email, email_key, name, kind, role) VALUES ($1, $1 || '@x.example', $1, 'User', 'individual', 'user')",
      [userId],
    );
    await query(
      `INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id)
       VALUES ($1, 'Client', 'confidential', '{client_credentials}', '{vehicle:read}', '{}', $2)`,
      [clientId, userId],
    );
    await query("INSERT INTO consents (client_id, user_id, scopes) VALUES ($1, $2, '{vehicle:read}')", [
      clientId,
      userId,
    ]);
    return { clientId, userId };
  }

  /** An endpoint with so many deliveries, due since `due` ago and each a little later than the one before. */
  async function makeEndpoint(deliveries: number, due = '1 hour'): Promise<string> {
    const { clientId, userId } = await makeClient();
    const [id, eventId] = [newId('endp'), newId('evnt')];
    await query(
      "INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret) VALUES ($1, $2, $3, '{vehicle.updated}', 'x')",
      [id, clientId, RECEIVER_URL],
    );
    await query(
      "INSERT INTO events (id, type, user_id, payload, deliveries) VALUES ($1, 'vehicle.updated', $2, '{}', 1)",
      [eventId, userId],
    );
    await query(
      `INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, next_attempt_at, due_at)
       SELECT new_delivery_id(), $1, 'vehicle.updated', $2, $3, at, at
         FROM (SELECT now() - $4::interval + n * interval '1 ms' AS at FROM generate_series(1, $5) n) due`,
      [eventId, id, clientId, due, deliveries],
    );
    return id;
  }

  /** A user who has consented to the client. */
  async function makeUserOf(clientId: string): Promise<string> {
    const id = newId('user');
    await query(
      "INSERT INTO users (id, email, email_key, name, kind, role) VALUES ($1, $1 || '@x.example', $1, 'User', 'individual', 'user')",
      [id],
    );
    await query("INSERT INTO consents (client_id, user_id, scopes) VALUES ($1, $2, '{vehicle:read}')", [
      clientId,
      id,
    ]);
    return id;
  }

  /** Stores an event and its delivery, as publishing does; returns the id of the delivery. */
  async function storeAt(
    endpointId: string,
    userId: string | null,
    { hasPlace = true, event = newId('evnt'), waits = true, payload = '{}' } = {},
  ): Promise<string> {
    const [row] = await query<{ id: string }>(
      `WITH event AS (
         INSERT INTO events (id, type, user_id, payload, deliveries, test) VALUES ($1, 'vehicle.updated', $2::text, $5, 1, $2::text IS NULL)
       )
       INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, line, place)
       SELECT new_delivery_id(), $1, 'vehicle.updated', id, client_id,
              CASE WHEN $4 THEN hashtextextended($2::text, 0) END, CASE WHEN $4 AND $2::text IS NOT NULL THEN pg_current_xact_id()::text::bigint END
         FROM webhook_endpoints WHERE id = $3
       RETURNING id`,
      [event, userId, endpointId, hasPlace, payload],
    );
    if (waits) await settled();
    return row!.id;
  }
  const settled = () => settledIn(query);

  const claim = async (
    limit = MANY,
    perEndpoint = MANY,
    room = new Map<string, number>(),
    by = stage.queue,
  ): Promise<ClaimedDelivery[]> => (await by.claim(randomUUID(), limit, perEndpoint, room)).deliveries;
  const countByEndpoint = (claims: ClaimedDelivery[]) => {
    const counts: Record<string, number> = {};
    for (const { endpointId } of claims) counts[endpointId] = (counts[endpointId] ?? 0) + 1;
    return counts;
  };
  const rows = () =>
    query<Row>(
      `SELECT id, state, attempts, retries, lease_id, extract(epoch FROM next_attempt_at - now())::float8 AS wait
         FROM deliveries ORDER BY next_attempt_at, id`,
    );
  const endLeases = () => query('UPDATE deliveries SET next_attempt_at = now() WHERE lease_id IS NOT NULL');
  const finished = ({ id, leaseId }: ClaimedDelivery, rest: Partial<FinishedClaim> = {}): FinishedClaim => ({
    id,
    leaseId,
    state: 'delivered',
    attempt: { ...ATTEMPT, status: 200 },
    ...rest,
  });

  return {
    stage,
    query,
    makeEndpoint,
    makeUserOf,
    storeAt,
    settled,
    claim,
    countByEndpoint,
    rows,
    endLeases,
    finished,
  };
}

import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions, workerPool } from '#platform/database/connections/data-source.js';
import { migrate } from '#platform/database/migrations/migrate.js';
import { WorkerStatements } from '#platform/database/queries/worker-statements.js';
import type { ClaimedDelivery } from '#events/webhooks/deliveries/claimed-delivery.js';
import { DeliveryEntity } from '#events/webhooks/deliveries/delivery.entity.js';
import { DeliveryQueueRepository } from '#events/webhooks/deliveries/delivery-queue.repository.js';
import { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { EventEntity } from '#events/webhooks/events/event.entity.js';
import { ATTEMPT } from '../support/delivery-queues.js';
import { InstalledPostgres, lackingPostgres } from '../support/installed-postgres.js';
import { describeUnless } from '../support/left-out.js';
import { rowsOf, type Plan } from '../support/list-plans.js';
import { createTestDatabase } from '../support/test-database.js';

const DUE = 20_000;
const CLAIMED = 32;
/** Each is read from its index, joined with four others, locked and changed. */
const READ_AT_MOST = CLAIMED * 40;

const NEW_ID = "'dlvr' || upper(lpad(to_hex(n), 26, '0'))";
const OWNERS = `
  SET session_replication_role = replica;
  SET statement_timeout = 0;
  INSERT INTO users (id, email, email_key, name, kind, role)
  VALUES ('user' || repeat('0', 26), 'a@x.example', 'a@x.example', 'A', 'individual', 'user');
  INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id)
  VALUES ('clnt' || repeat('0', 26), 'A', 'confidential', '{}', '{vehicle:read}', '{}', 'user' || repeat('0', 26));
  INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
  VALUES ('endp' || repeat('0', 26), 'clnt' || repeat('0', 26), 'https://x.example/', '{vehicle.updated}', '')`;

/** An endpoint with a backlog in which everything is due at one instant, as after a recovery. */
const MAKE_BACKLOG = `
  ${OWNERS};
  INSERT INTO events (id, type, user_id, payload, deliveries)
  VALUES ('evnt' || repeat('0', 26), 'vehicle.updated', 'user' || repeat('0', 26), '{}', ${DUE});
  -- Never put off, put off until now, and put off until later.
  INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, next_attempt_at, due_at)
  SELECT ${NEW_ID}, 'evnt' || repeat('0', 26), 'vehicle.updated', 'endp' || repeat('0', 26), 'clnt' || repeat('0', 26), coalesce(at, now()), at
    FROM generate_series(1, ${3 * DUE}) n, LATERAL (
      SELECT (ARRAY[NULL, now() - interval '1 minute', now() + interval '1 hour'])[n % 3 + 1] AS at) a;
  ANALYZE`;

/** The same for an ordered endpoint, whose events are about so many users in turn: most of what is due is behind another one. */
const USERS = 40;
const LINE_UP = `
  ${OWNERS};
  UPDATE webhook_endpoints SET ordered = true;
  INSERT INTO users (id, email, email_key, name, kind, role)
  SELECT 'user' || lpad(n::text, 26, '0'), n || '@x.example', n || '@x.example', 'A', 'individual', 'user' FROM generate_series(1, ${USERS}) n;
  INSERT INTO events (id, type, user_id, payload, deliveries, xid)
  SELECT 'evnt' || lpad(n::text, 26, '0'), 'vehicle.updated', 'user' || lpad((n % ${USERS} + 1)::text, 26, '0'), '{}', 1, '3'
    FROM generate_series(1, ${DUE}) n;
  INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, line, place, next_attempt_at)
  SELECT 'dlvr' || right(v.id, 26), v.id, v.type, e.id, e.client_id, hashtextextended(v.user_id, 0), 3, now() - interval '1 minute'
    FROM webhook_endpoints e, events v ORDER BY v.id;
  ANALYZE`;
/** As many are looked at, and each is read in a dozen parts of the statement. */
const READ_IN_ORDER_AT_MOST = 64 * 80;
const IN_BATCHES = `UPDATE webhook_endpoints SET batch = '{"max":${CLAIMED},"wait_ms":0}'`;

const BACKLOGS: [whose: string, backlog: string, readAtMost: number][] = [
  ['an endpoint', MAKE_BACKLOG, READ_AT_MOST],
  ['an ordered endpoint', LINE_UP, READ_IN_ORDER_AT_MOST],
  ['an endpoint with batches', `${MAKE_BACKLOG}; ${IN_BATCHES}`, CLAIMED * 50],
  ['an ordered endpoint with batches', `${LINE_UP}; ${IN_BATCHES}`, READ_IN_ORDER_AT_MOST],
];

/** What the statements of the worker read, planned for any parameters, as on its connections, after it has dropped its plans. */
class ExplainedStatements extends WorkerStatements {
  private connection: pg.PoolClient | undefined;
  private readonly prepared = new Set<string>();
  readonly read: Record<string, number> = {};

  constructor(private readonly url: string) {
    super({ databaseUrl: url });
  }

  override async run<Row extends object>(name: string, text: string, values: unknown[]): Promise<Row[]> {
    this.connection ??= await workerPool(this.url).connect();
    if (!this.prepared.has(name)) await this.connection.query(`PREPARE "${name}" AS ${text}`);
    this.prepared.add(name);
    await this.connection.query('DISCARD PLANS');
    const given = values.map((value) => pg.escapeLiteral(literalOf(value))).join(', ');
    const { rows } = await this.connection.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE "${name}" (${given})`,
    );
    this.read[name] = rowsOf(rows[0]!['QUERY PLAN'][0].Plan);
    return [];
  }

  override async onApplicationShutdown(): Promise<void> {
    this.connection?.release(true);
    await super.onApplicationShutdown();
  }
}

const literalOf = (value: unknown): string => (Array.isArray(value) ? `{${value.join(',')}}` : String(value));

/** What a claim and the results of so many deliveries read, prepared while the queue was empty. */
async function rowsRead(url: string, makeBacklog: string): Promise<Record<string, number>> {
  const dataSource = await new DataSource({
    ...dataSourceOptions(url, 1),
    entities: [DeliveryEntity, EndpointEntity, EventEntity],
  }).initialize();
  const statements = new ExplainedStatements(url);
  try {
    const queue = new DeliveryQueueRepository(dataSource.getRepository(DeliveryEntity), statements);
    const claimAndFinish = async () => {
      const leaseId = randomUUID();
      await queue.claim(leaseId, CLAIMED, CLAIMED, new Map());
      const claimed: Pick<ClaimedDelivery, 'id'>[] = await dataSource.query(
        'SELECT id FROM deliveries WHERE lease_id = $1',
        [leaseId],
      );
      await queue.finish(
        claimed.map(({ id }) => ({ id, leaseId, state: 'delivered', attempt: { ...ATTEMPT, status: 200 } })),
      );
      return { ...statements.read, deliveries: claimed.length };
    };
    await claimAndFinish();
    await dataSource.query(makeBacklog);
    return await claimAndFinish();
  } finally {
    await statements.onApplicationShutdown();
    await dataSource.destroy();
  }
}

/** Fails unless they read what is claimed and finished, however many are due. */
function expectFew({ deliveries, ...read }: Record<string, number>, atMost: number): void {
  expect(deliveries).toBe(CLAIMED);
  expect(Object.keys(read).sort()).toEqual(['claim deliveries', 'finish deliveries']);
  expect(Math.max(...Object.values(read))).toBeLessThan(atMost);
}

describe('a claim of deliveries that are all due at one instant, and their results,', () => {
  it.each(BACKLOGS)('read few of %s, in the embedded PostgreSQL', async (_whose, backlog, atMost) => {
    const database = await createTestDatabase();
    expectFew(await rowsRead(database.url, backlog), atMost);
    await database.drop();
  });

  describeUnless(lackingPostgres, 'in an installed PostgreSQL', () => {
    it.each(BACKLOGS)('read few of %s', async (_whose, backlog, atMost) => {
      const postgres = await InstalledPostgres.start();
      try {
        await migrate(postgres.url('postgres'));
        expectFew(await rowsRead(postgres.url('postgres'), backlog), atMost);
      } finally {
        await postgres.remove();
      }
    });
  });
});

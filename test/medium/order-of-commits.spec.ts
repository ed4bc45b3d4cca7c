import type { Client } from 'pg';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '#platform/database/connections/data-source.js';
import { newId } from '#platform/secrets/ids.js';
import { AuditEventEntity } from '#records/audit/audit-event.entity.js';
import { AuditRepository } from '#records/audit/audit.repository.js';
import { RequestRecordEntity } from '#records/requests/request-record.entity.js';
import { RequestRecordsRepository } from '#records/requests/request-records.repository.js';
import { EventEntity } from '#events/webhooks/events/event.entity.js';
import { EventFeedRepository } from '#events/webhooks/feed/event-feed.repository.js';
import { useDeliveryQueues } from '../support/delivery-queues.js';
import { until } from '../support/until.js';
import { connectionTo, createTestDatabase, type TestDatabase } from '../support/test-database.js';

const { stage, query, makeEndpoint, makeUserOf, storeAt, claim } = useDeliveryQueues();

describe('what is read in the order of commits', () => {
  let elsewhere: TestDatabase;
  let source: DataSource;
  let holding: Client;

  beforeAll(async () => {
    elsewhere = await createTestDatabase();
    const entities = [AuditEventEntity, RequestRecordEntity, EventEntity];
    source = await new DataSource({ ...dataSourceOptions(stage.database.url, 2), entities }).initialize();
  });
  afterEach(() => holding.end());
  afterAll(async () => {
    await source.destroy();
    await elsewhere.drop();
  });

  /** A transaction that has written something there, and stays open. */
  async function hold(there: Pick<TestDatabase, 'url'>): Promise<void> {
    holding = await connectionTo({ database: there });
    await holding.query('BEGIN');
    await holding.query('CREATE TABLE written (id int)');
  }

  async function manyTransactions(): Promise<void> {
    for (let n = 0; n < 64; n++) await query('SELECT pg_current_xact_id()');
  }
  const newest = async (table: string) =>
    (await query<{ id: string }>(`SELECT id::text FROM ${table} ORDER BY xid DESC, id DESC LIMIT 1`))[0]!.id;
  const START = { xid: '0', id: '0' };
  /** Each writes a row, and says whether that row is shown. */
  const READS: Record<string, () => Promise<() => Promise<boolean>>> = {
    async events() {
      const feed = new EventFeedRepository(source.getRepository(EventEntity));
      const id = newId('evnt');
      await query(
        "INSERT INTO events (id, type, payload, deliveries) VALUES ($1, 'vehicle.updated', '{}', 0)",
        [id],
      );
      return async () => {
        const [shown, position] = [await feed.newest(), await feed.positionOf(id)];
        const { last, isHeldUp } = await feed.newsFor([], { xid: '0', eventId: '' });
        return shown?.eventId === id && last?.eventId === id && position!.eventId === id && !isHeldUp;
      };
    },
    async 'deliveries to an ordered endpoint'() {
      const endpoint = await makeEndpoint(0);
      const [row] = await query<{ client_id: string }>(
        'UPDATE webhook_endpoints SET ordered = true WHERE id = $1 RETURNING client_id',
        [endpoint],
      );
      const id = await storeAt(endpoint, await makeUserOf(row!.client_id), { waits: false });
      return async () => (await claim()).some((each) => each.id === id);
    },
    async 'the audit log'() {
      await query(
        "INSERT INTO audit_events (actor_type, action, subject_type, subject_id) VALUES ('service', 'x', 'x', 'x')",
      );
      const [id, log] = [
        await newest('audit_events'),
        new AuditRepository(source.getRepository(AuditEventEntity)),
      ];
      return async () => (await log.after(START, 100)).entries.some(({ row }) => row.id === id);
    },
    async refusals() {
      const log = new RequestRecordsRepository(source.getRepository(RequestRecordEntity));
      await query(
        "INSERT INTO request_records (occurred_at, request_id, method, route, status, milliseconds, injected) VALUES (now(), 'x', 'GET', '/x', 401, 1, false)",
      );
      const id = await newest('request_records');
      return async () => (await log.refusalsAfter(START, 100))!.some(({ place }) => place.id === id);
    },
  };

  describe.each(Object.keys(READS))('%s', (what) => {
    it('is held up by an older transaction in the same database until that ends', async () => {
      await hold(stage.database);
      const isShown = await READS[what]!();
      await manyTransactions();
      expect(await isShown()).toBe(false);
      await holding.query('ROLLBACK');
      await until('it is shown', isShown);
    });

    it('is not held up for long by a transaction in another database of the server', async () => {
      await hold(elsewhere);
      const isShown = await READS[what]!();
      await manyTransactions();
      await until('it is shown', isShown);
    });
  });
});

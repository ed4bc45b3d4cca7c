import { randomUUID } from 'node:crypto';
import { DataSource } from 'typeorm';
import { dataSourceOptions } from '#platform/database/connections/data-source.js';
import { migrate } from '#platform/database/migrations/migrate.js';
import { DeliveryEntity } from '#events/webhooks/deliveries/delivery.entity.js';
import { DeliveryQueueRepository } from '#events/webhooks/deliveries/delivery-queue.repository.js';
import { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { EventEntity } from '#events/webhooks/events/event.entity.js';
import { InstalledPostgres, lackingPostgres } from '../support/installed-postgres.js';
import { describeUnless } from '../support/left-out.js';
import { rowsOf, type Plan } from '../support/list-plans.js';
import { createTestDatabase } from '../support/test-database.js';

const DUE = 20_000;
const CLAIMED = 32;
/** Each is read from its index, joined with four others, locked and changed. */
const READ_AT_MOST = CLAIMED * 40;

/** What a claim reads of a backlog in which everything is due at one instant, as after a recovery. */
async function rowsReadByClaim(url: string): Promise<number> {
  const dataSource = await new DataSource({
    ...dataSourceOptions(url, 1),
    entities: [DeliveryEntity, EndpointEntity, EventEntity],
  }).initialize();
  try {
    await dataSource.query(`
      SET session_replication_role = replica;
      INSERT INTO users (id, email, email_key, name, kind, role)
      VALUES ('user' || repeat('0', 26), 'a@x.example', 'a@x.example', 'A', 'individual', 'user');
      INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id)
      VALUES ('clnt' || repeat('0', 26), 'A', 'confidential', '{}', '{vehicle:read}', '{}', 'user' || repeat('0', 26));
      INSERT INTO webhook_endpoints (id, client_id, url, event_types, sealed_secret)
      VALUES ('endp' || repeat('0', 26), 'clnt' || repeat('0', 26), 'https://x.example/', '{vehicle.updated}', '');
      INSERT INTO events (id, type, user_id, payload, deliveries)
      VALUES ('evnt' || repeat('0', 26), 'vehicle.updated', 'user' || repeat('0', 26), '{}', ${DUE});
      INSERT INTO deliveries (id, event_id, event_type, endpoint_id, client_id, next_attempt_at)
      SELECT new_delivery_id(), 'evnt' || repeat('0', 26), 'vehicle.updated', 'endp' || repeat('0', 26), 'clnt' || repeat('0', 26),
             now() - interval '1 minute' FROM generate_series(1, ${DUE});
      ANALYZE`);
    const deliveries = dataSource.getRepository(DeliveryEntity);
    let plan: Plan;
    jest.spyOn(deliveries, 'query').mockImplementation(async (sql, parameters) => {
      const [{ 'QUERY PLAN': explained }]: [{ 'QUERY PLAN': [{ Plan: Plan }] }] = await dataSource.query(
        `EXPLAIN (ANALYZE, FORMAT JSON) ${sql}`,
        parameters,
      );
      plan = explained[0].Plan;
      return [];
    });
    await new DeliveryQueueRepository(deliveries).claim(randomUUID(), CLAIMED, CLAIMED, new Map());
    return rowsOf(plan!);
  } finally {
    await dataSource.destroy();
  }
}

describe('a claim of deliveries that are all due at one instant', () => {
  it('reads those that it takes, in the embedded PostgreSQL', async () => {
    const database = await createTestDatabase();
    expect(await rowsReadByClaim(database.url)).toBeLessThan(READ_AT_MOST);
    await database.drop();
  });

  describeUnless(lackingPostgres, 'in an installed PostgreSQL', () => {
    it('reads those that it takes', async () => {
      const postgres = await InstalledPostgres.start();
      try {
        await migrate(postgres.url('postgres'));
        expect(await rowsReadByClaim(postgres.url('postgres'))).toBeLessThan(READ_AT_MOST);
      } finally {
        await postgres.remove();
      }
    });
  });
});

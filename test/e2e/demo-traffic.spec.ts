import { DataSource } from 'typeorm';
import { newId } from '#platform/secrets/ids.js';
import { seedTraffic } from '../../demo/demo-traffic.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const SCHEDULE = [5, 300, 1800, 7200, 18_000, 36_000, 50_400, 72_000, 86_400];

/* The demonstration's traffic must be plausible: nothing in it contradicts the rest. */
describe('The traffic of the demonstration', () => {
  let database: TestDatabase;
  let dataSource: DataSource;

  beforeAll(async () => {
    database = await createTestDatabase();
    dataSource = await new DataSource({ type: 'postgres', url: database.url }).initialize();
    const [owner, driver, client] = [newId('user'), newId('user'), newId('clnt')];
    await database.query(
      `INSERT INTO users (id, email, email_key, name, kind, role)
       SELECT id, id || '@demo.example', id || '@demo.example', id, 'individual', 'user' FROM unnest($1::text[]) AS u (id)`,
      [[owner, driver]],
    );
    await database.query(
      `INSERT INTO clients (id, name, type, grant_types, scopes, redirect_uris, owner_id)
       VALUES ($1, 'Demo', 'confidential', '{client_credentials}', '{vehicle:read}', '{}', $2)`,
      [client, owner],
    );
    const traffic = { clientId: client, drivers: [driver], encryptionKeys: [Buffer.alloc(32, 'k')] };
    await dataSource.transaction((manager) => seedTraffic(manager, { ...traffic, retrySchedule: SCHEDULE }));
  });
  afterAll(async () => {
    await dataSource.destroy();
    await database.drop();
  });

  const rowsWhere = (condition: string) =>
    database.query(
      `SELECT d.id, d.state, d.attempts, n.count, n.good, n.last FROM deliveries d
         CROSS JOIN LATERAL (
           SELECT count(*)::int, count(*) FILTER (WHERE status < 300)::int AS good, max(number) AS last,
                  max(attempted_at) AS last_at, min(attempted_at) AS first_at
             FROM delivery_attempts WHERE delivery_id = d.id) n
         JOIN webhook_endpoints e ON e.id = d.endpoint_id
        WHERE ${condition} LIMIT 5`,
    );

  it('numbers the events about each thing in their order, and goes on there', async () => {
    const rows = await database.query<{ numbers: number[]; last: number }>(
      `SELECT array_agg((payload::jsonb ->> 'sequence')::int ORDER BY id) AS numbers, min(s.last)::int AS last
         FROM events e
         JOIN event_sequences s ON s.user_id = e.user_id AND s.family = split_part(e.type, '.', 1)
                               AND s.resource_id = e.payload::jsonb #>> '{data,id}'
        GROUP BY s.family, s.resource_id`,
    );
    expect(rows.length).toBeGreaterThan(3);
    const [all] = await database.query<{ events: number }>('SELECT count(*)::int AS events FROM events');
    expect(rows.reduce((sum, { last }) => sum + last, 0)).toBe(all!.events);
    for (const { numbers, last } of rows) {
      expect(numbers).toEqual(numbers.map((_number, index) => index + 1));
      expect(numbers).toHaveLength(last);
    }
  });

  it('has deliveries in every state that it shows', async () => {
    const states = await database.query<{ state: string; attempts: number }>(
      'SELECT state, max(attempts) AS attempts FROM deliveries GROUP BY state ORDER BY state',
    );
    expect(states.map(({ state }) => state)).toEqual(['delivered', 'failed', 'pending']);
    expect(states.find(({ state }) => state === 'delivered')!.attempts).toBeGreaterThan(1);
  });

  it.each(
    Object.entries({
      'a delivery failed before the end of the schedule': `d.state = 'failed' AND d.attempts <> ${SCHEDULE.length + 1}`,
      'a delivery is pending without a failed attempt or without a time for the next one':
        "d.state = 'pending' AND (n.good > 0 OR n.count = 0 OR d.next_attempt_at <= n.last_at)",
      'a delivery was delivered without exactly one successful attempt':
        "d.state = 'delivered' AND n.good <> 1",
      'a delivery that was not delivered has a successful attempt': "d.state <> 'delivered' AND n.good > 0",
      'a delivery has a wrong count of attempts': 'd.attempts <> n.count OR n.count IS DISTINCT FROM n.last',
      'a delivery has a wrong count of retries': "d.retries <> d.attempts - (d.state <> 'pending')::int",
      'an attempt comes before its delivery': 'n.first_at < d.created_at',
      'a delivery finished before its last attempt': "d.state <> 'pending' AND d.finished_at < n.last_at",
      'a delivery is older than its endpoint':
        'd.created_at < e.created_at OR substr(d.id, 5, 10) < substr(e.id, 5, 10)',
      'anything happened in the future': 'd.created_at > now() OR n.last_at > now()',
      'an endpoint was attempted after its recorded last attempt': 'n.last_at > e.last_attempt_at',
    }),
  )('never shows that %s', async (_what, condition) => expect(await rowsWhere(condition)).toEqual([]));

  it('has endpoints whose state follows from their attempts', async () => {
    const endpoints = await database.query(
      `SELECT e.url, e.last_attempt_at = max(a.attempted_at) AS "lastIsLast",
              e.failing_since IS NOT DISTINCT FROM
                min(a.attempted_at) FILTER (WHERE a.attempted_at > coalesce(g.good_at, '-infinity')) AS "failsSinceThen"
         FROM webhook_endpoints e
         JOIN deliveries d ON d.endpoint_id = e.id
         JOIN delivery_attempts a ON a.delivery_id = d.id
         CROSS JOIN LATERAL (
           SELECT max(s.attempted_at) AS good_at FROM delivery_attempts s JOIN deliveries f ON f.id = s.delivery_id
            WHERE f.endpoint_id = e.id AND s.status < 300) g
        GROUP BY e.id ORDER BY e.url`,
    );
    expect(endpoints).toEqual([
      { url: 'https://fleet.northwind.example/events', lastIsLast: true, failsSinceThen: true },
      { url: 'https://hooks.northwind.example/charging', lastIsLast: true, failsSinceThen: true },
    ]);
  });

  it('has charts that match its attempts', async () => {
    const [sums] = await database.query(
      `SELECT (SELECT sum(delivered + failed)::int FROM webhook_endpoint_hours) AS charted,
              (SELECT count(*)::int FROM delivery_attempts) AS made`,
    );
    expect((sums as { charted: number }).charted).toBe((sums as { made: number }).made);
  });
});

import { Client } from 'pg';
import { atEndOfFile } from '../support/between-files.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { createTestDatabase, type Reads, type TestDatabase } from '../support/test-database.js';

const TURN = 'SELECT turn_request_records(7, 2)::int AS n';

describe('The partitions of request records', () => {
  let database: TestDatabase & Reads;
  let service: Client;

  beforeEach(async () => {
    database = await createTestDatabase();
    service = await asService();
  });

  /** A connection with the rights of the service. */
  async function asService(): Promise<Client> {
    const client = new Client({ connectionString: database.serviceUrl! });
    client.on('error', () => undefined);
    await client.connect();
    atEndOfFile(() => client.end());
    return client;
  }

  const turn = async (connection = service) => (await connection.query<{ n: number }>(TURN)).rows[0]!.n;
  const record = (days: number, requestId = 'request') =>
    service.query(
      `INSERT INTO request_records (occurred_at, request_id, method, route, status, milliseconds, injected)
       VALUES (now() + make_interval(days => $1), $2, 'GET', '/', 400, 1, false)`,
      [days, requestId],
    );
  /** The day of each partition counted from today, in order; `undefined` is the partition of everything else. */
  const days = () =>
    database.column<number | null>(
      `SELECT to_date(substring(c.relname FROM '[0-9_]{10}$'), 'YYYY_MM_DD') - (now() AT TIME ZONE 'UTC')::date
         FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE inhparent = 'request_records'::regclass ORDER BY 1`,
    );
  /** In which partition each record is, as above. */
  const places = () =>
    database.column<number | null>(
      `SELECT to_date(substring(tableoid::regclass::text FROM '[0-9_]{10}$'), 'YYYY_MM_DD') - (now() AT TIME ZONE 'UTC')::date
         FROM request_records ORDER BY occurred_at`,
    );
  const drop = (day: number) =>
    database.query(
      `DO $$ BEGIN EXECUTE format('DROP TABLE partitions.request_records_%s',
         to_char((now() AT TIME ZONE 'UTC')::date + ${day}, 'YYYY_MM_DD')); END $$`,
    );
  /** As if it had been made that day. */
  const makeEarlier = (day: number) =>
    database.query(
      `DO $$ DECLARE d timestamp := (now() AT TIME ZONE 'UTC')::date + ${day}; BEGIN
         EXECUTE format('CREATE TABLE partitions.request_records_%s PARTITION OF request_records FOR VALUES FROM (%L) TO (%L)',
           to_char(d, 'YYYY_MM_DD'), d AT TIME ZONE 'UTC', (d + interval '1 day') AT TIME ZONE 'UTC'); END $$`,
    );

  it('refuse the service itself, which may only read and write the table', async () => {
    for (const sql of [
      'SELECT 1 FROM partitions.request_records_other',
      'DROP TABLE partitions.request_records_other',
      'CREATE TABLE partitions.more (n integer)',
      'DROP TABLE request_records',
    ])
      await expect(service.query(sql)).rejects.toMatchObject({ code: '42501' });
  });

  it('are made ahead, and take a record of their day; what belongs to none is kept apart', async () => {
    expect(await days()).toEqual([0, 1, 2, null]);
    await drop(2);
    await drop(1);
    expect(await turn()).toBe(0);
    expect(await days()).toEqual([0, 1, 2, null]);
    for (const day of [-3, 0, 1, 30]) await record(day);
    expect(await places()).toEqual([null, 0, 1, null]);
  });

  it('are made late, after a month without the service, and get what was recorded meanwhile', async () => {
    for (const day of [0, 1, 2]) await drop(day);
    for (const day of [-1, 0, 0, 1]) await record(day);
    expect(await places()).toEqual([null, null, null, null]);
    await turn();
    expect(await days()).toEqual([0, 1, 2, null]);
    expect(await places()).toEqual([null, 0, 0, 1]);
  });

  it('go as a whole when their last moment is a week ago, and so does what is older and belongs to none', async () => {
    for (const day of [-20, -9, -8, -7, -6]) await makeEarlier(day);
    for (const day of [-20, -9, -7, -6, -12]) await record(day);
    await database.query('ANALYZE request_records');
    expect(await turn()).toBe(3);
    expect(await days()).toEqual([-7, -6, 0, 1, 2, null]);
    expect(await places()).toEqual([-7, -6]);
    expect(await turn()).toBe(0);
  });

  it('are made by one of many instances at once, while others record, and no record is lost', async () => {
    for (const day of [0, 1, 2]) await drop(day);
    const others = await Promise.all(Array.from({ length: 6 }, asService));
    await Promise.all([
      ...others.map((each) => turn(each)),
      (async () => {
        for (let n = 0; n < 20; n++) await record(n % 3, `request-${n}`);
      })(),
    ]);
    await turn();
    expect(await days()).toEqual([0, 1, 2, null]);
    const ids = await database.column<string>('SELECT DISTINCT request_id FROM request_records');
    expect(ids).toHaveLength(20);
    expect(await places()).not.toContain(null);
  });

  it('are there or not, and made by the next, when the one that makes them is cut off', async () => {
    await drop(1);
    await record(1);
    const killed = await asService();
    await killed.query('BEGIN');
    await turn(killed);
    // Another one leaves the work to it, and a record waits for its end.
    expect(await turn()).toBe(0);
    const recorded = record(1, 'meanwhile');
    await untilWaitingForLocks(database, 1);
    await database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction' AND datname = current_database()",
    );
    await recorded;
    expect(await days()).toEqual([0, 2, null]);
    await turn();
    expect(await days()).toEqual([0, 1, 2, null]);
    expect(await places()).toEqual([1, 1]);
  });

  it('are looked at one by one for the id of a request, each by an index, and alone for a time', async () => {
    await database.query('SET enable_seqscan = off');
    const scans = async (where: string) =>
      (await database.column<string>(`EXPLAIN SELECT * FROM request_records WHERE ${where}`)).flatMap(
        (line) => /(\w+(?: \w+)* Scan)(?: using \S+)? on (\S+)/.exec(line)?.slice(1, 3).join(' ') ?? [],
      );
    const byId = await scans("request_id = 'request'");
    expect(byId).toHaveLength(4);
    expect(byId.join()).not.toContain('Seq Scan');
    const today = await database.value<string>("SELECT (now() AT TIME ZONE 'UTC')::date::text");
    const byTime = await scans(`occurred_at >= '${today} 08:00Z' AND occurred_at < '${today} 09:00Z'`);
    expect(byTime.join()).toMatch(new RegExp(`^Index Scan request_records_${today.replaceAll('-', '_')}$`));
  });
});

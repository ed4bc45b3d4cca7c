import { Client } from 'pg';
import { atEndOfFile } from '../support/between-files.js';
import { untilHourHasRoom } from '../support/hours.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { createTestDatabase, type Reads, type TestDatabase } from '../support/test-database.js';

let database: TestDatabase & Reads;
let service: Client;

beforeEach(async () => {
  // No day or month ends in the middle of a test.
  await untilHourHasRoom();
  database = await createTestDatabase();
  service = await asService();
  await catchUp('request_records', 'day', 'turn_request_records(7, 2)');
  await catchUp('audit_events', 'month', 'turn_audit_events(2)');
});

/** The migrations made the partitions when the run began: if that was an earlier day or month, they are made as of now. */
async function catchUp(table: string, unit: string, turn: string): Promise<void> {
  const past = await database.column<string>(
    `SELECT c.oid::regclass::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
      WHERE inhparent = '${table}'::regclass
        AND to_date(substring(c.relname FROM '[0-9_]{10}$'), 'YYYY_MM_DD') < date_trunc('${unit}', now() AT TIME ZONE 'UTC')`,
  );
  for (const partition of past) await database.query(`DROP TABLE ${partition}`);
  if (past.length > 0) await service.query(`SELECT ${turn}`);
}

/** A connection with the rights of the service. */
async function asService(): Promise<Client> {
  const client = new Client({ connectionString: database.serviceUrl! });
  client.on('error', () => undefined);
  await client.connect();
  atEndOfFile(() => client.end());
  return client;
}

/** The partitions that a statement looks into, and how. */
const scans = async (statement: string) =>
  (await database.column<string>(`EXPLAIN ${statement}`)).flatMap(
    (line) =>
      /((?:\w+ )*Scan|Insert)(?: using \S+| Backward using \S+)? on (\S+)/
        .exec(line)
        ?.slice(1, 3)
        .join(' ') ?? [],
  );

const TURN = 'SELECT turn_request_records(7, 2)::int AS n';

describe('The partitions of request records', () => {
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
      // One that waits too long for a lock leaves it to the next purge.
      ...others.map((each) =>
        turn(each).catch((error: { code?: string }) => expect(error.code).toBe('55P03')),
      ),
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
    const read = (where: string) => scans(`SELECT * FROM request_records WHERE ${where}`);
    const byId = await read("request_id = 'request'");
    expect(byId).toHaveLength(4);
    expect(byId.join()).not.toContain('Seq Scan');
    const today = await database.value<string>("SELECT (now() AT TIME ZONE 'UTC')::date::text");
    const byTime = await read(`occurred_at >= '${today} 08:00Z' AND occurred_at < '${today} 09:00Z'`);
    expect(byTime.join()).toMatch(new RegExp(`^Index Scan request_records_${today.replaceAll('-', '_')}$`));
  });
});

describe('The partitions of the audit log', () => {
  const turn = () => database.value<number>('SELECT turn_audit_events(2)::int');
  /** As if it had been recorded then, with its place in months from now. */
  const record = (when: string) =>
    service.query(
      `INSERT INTO audit_events (id, actor_type, action, subject_type, subject_id)
       VALUES (first_audit_event_id($1) || repeat('0', 16), 'service', 'user.updated', 'user', $1)`,
      [when],
    );
  const START = "date_trunc('month', now() AT TIME ZONE 'UTC')";
  /** The start of a month, counted from this one, and a moment before it. */
  const startOf = (months: number, less = '0') =>
    database.value<string>(
      `SELECT to_char((${START} + $1 * interval '1 month') - $2::interval, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`,
      [months, less],
    );
  /** The month of each partition counted from this one, in order; `null` is the partition of everything else. */
  const monthOf = (partition: string) =>
    `(SELECT extract(year FROM a) * 12 + extract(month FROM a)
        FROM age(to_date(substring(${partition} FROM '[0-9_]{10}$'), 'YYYY_MM_DD'), ${START}) a)::int`;
  const months = () =>
    database.column<number | null>(
      `SELECT ${monthOf('inhrelid::regclass::text')} FROM pg_inherits WHERE inhparent = 'audit_events'::regclass ORDER BY 1`,
    );
  const places = () =>
    database.column<number | null>(
      `SELECT ${monthOf('tableoid::regclass::text')} FROM audit_events ORDER BY id`,
    );
  const nameOf = (month: number) =>
    database.value<string>(
      `SELECT 'partitions.audit_events' || to_char(${START} + $1 * interval '1 month', '_YYYY_MM_DD')`,
      [month],
    );
  /** As if it had been made that month, by the owner of the table. */
  const makeEarlier = async (month: number) => {
    await database.query(
      `CREATE TABLE ${await nameOf(month)} PARTITION OF audit_events
         FOR VALUES FROM ('${await idAt(month)}') TO ('${await idAt(month + 1)}')`,
    );
    const owner = await database.value<string>(
      "SELECT relowner::regrole::text FROM pg_class WHERE oid = 'audit_events'::regclass",
    );
    await database.query(`ALTER TABLE ${await nameOf(month)} OWNER TO ${owner}`);
  };
  const idAt = async (month: number) =>
    database.value<string>('SELECT first_audit_event_id($1)', [await startOf(month)]);

  it('refuse the service itself, and every change even by their owner', async () => {
    await record(await startOf(0));
    await record(await startOf(9));
    await expect(service.query(`SELECT 1 FROM ${await nameOf(0)}`)).rejects.toMatchObject({ code: '42501' });
    for (const part of ['audit_events', await nameOf(0), 'partitions.audit_events_other'])
      for (const sql of [`UPDATE ${part} SET action = 'x'`, `DELETE FROM ${part}`, `TRUNCATE ${part}`])
        await expect(database.query(sql)).rejects.toThrow('The audit log cannot be changed.');
  });

  it('are made ahead, and take an entry of their month from its first moment to its last', async () => {
    expect(await months()).toEqual([0, 1, 2, null]);
    for (const when of [
      await startOf(0, '1 ms'),
      await startOf(0),
      await startOf(1, '1 ms'),
      await startOf(1),
    ])
      await record(when);
    expect(await places()).toEqual([null, 0, 0, 1]);
    await service.query(
      "INSERT INTO audit_events (actor_type, action, subject_type, subject_id) VALUES ('service', 'user.updated', 'user', 'now')",
    );
    expect(
      await database.value("SELECT tableoid::regclass::text FROM audit_events WHERE subject_id = 'now'"),
    ).toBe(await nameOf(0));
  });

  it('are made late, after months without the service, and get what was recorded meanwhile, which stays protected', async () => {
    for (const month of [0, 1, 2]) await database.query(`DROP TABLE ${await nameOf(month)}`);
    for (const month of [-1, 0, 1]) await record(await startOf(month));
    expect(await turn()).toBe(0);
    expect(await months()).toEqual([0, 1, 2, null]);
    expect(await places()).toEqual([null, 0, 1]);
    for (const part of [await nameOf(0), 'partitions.audit_events_other'])
      await expect(database.query(`DELETE FROM ${part}`)).rejects.toThrow('The audit log cannot be changed.');
  });

  it('go as a whole when their last moment is a year ago, and so does what is older and belongs to none', async () => {
    for (const month of [-20, -14, -13, -12]) await makeEarlier(month);
    for (const month of [-20, -14, -12, -16]) await record(await startOf(month));
    await database.query('ANALYZE audit_events');
    expect(await turn()).toBe(3);
    const left = await months();
    // The 13th month back ended twelve months before this one began: 365 days ago, unless this is the first of the month after a leap day.
    expect(left.filter((month) => month !== -13)).toEqual([-12, 0, 1, 2, null]);
    expect(await places()).toEqual([-12]);
    expect(await turn()).toBe(0);
  });

  it('are written one at a time, and read by their indexes, those of a time alone if the time is known', async () => {
    await makeEarlier(-1);
    await database.query('SET enable_seqscan = off');
    const [current, last] = [(await nameOf(0)).slice(11), (await nameOf(-1)).slice(11)];
    const ofActor = await scans("SELECT * FROM audit_events WHERE actor_id = 'x' ORDER BY id DESC LIMIT 26");
    expect(ofActor).toHaveLength(5);
    expect(ofActor.join()).not.toMatch(/Seq Scan|Bitmap/);
    const since = await scans(
      `SELECT * FROM audit_events WHERE id >= '${await idAt(0)}' AND id < '${await idAt(1)}' ORDER BY id DESC LIMIT 26`,
    );
    expect(since).toEqual([`Index Scan ${current}`]);
    expect(since.join()).not.toContain(last);
    const id = await database.value<string>('SELECT new_audit_event_id()');
    expect(await scans(`SELECT * FROM audit_events WHERE id = '${id}'`)).toEqual([`Index Scan ${current}`]);
  });
});

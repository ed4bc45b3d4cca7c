import { readFileSync } from 'node:fs';
import { Client } from 'pg';
import { describeUnless } from '../support/left-out.js';
import { OwnPostgres } from '../support/own-postgres.js';
import { lackingPgBouncer, PgBouncer } from '../support/pgbouncer.js';
import { asAdmin, createTestDatabase, nameOf, type TestDatabase } from '../support/test-database.js';
import { poolOf, startInstance, type TestInstance, until } from '../support/spec.js';
import { listOf } from '../support/list-of.js';

const IT_IS_OR_NOT = [() => true, () => false] as const;

async function oneRow(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.query('SELECT 1');
  } finally {
    await client.end().catch(() => undefined);
  }
}

describeUnless(lackingPgBouncer, 'behind a pooler, the service', () => {
  let database: TestDatabase;
  let pooler: PgBouncer | undefined;
  let instance: TestInstance | undefined;

  beforeEach(async () => (database = await createTestDatabase()));
  afterEach(async () => {
    await instance?.app.close();
    await pooler?.stop();
    await database.drop();
  });

  const startBehind = async (mode: 'transaction' | 'session') => {
    pooler = await PgBouncer.start(database.serviceUrl!, mode);
    instance = await startInstance({ ...database, serviceUrl: pooler.url }, {});
    return instance;
  };

  it('is not ready in transaction mode, and says why', async () => {
    const { http, log } = await startBehind('transaction');
    const why = /notifications from the database do not arrive: DATABASE_URL must point to PostgreSQL itself/;
    await until('it knows', async () => why.test((await http.get('/health/ready')).text));
    for (let n = 0; n < 5; n++) {
      const { status, json } = await http.get('/health/ready');
      expect([status, json.title]).toEqual([503, 'Service unavailable']);
      expect(json.detail).toMatch(why);
    }
    // It keeps trying, and logs each reason once until there is another: on a busy machine a try may also take too long.
    const reasons = log
      .filter((line) => line.includes('Database notifications are unavailable'))
      .map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(reasons.length).toBeGreaterThan(0);
    expect(reasons.filter((reason, n) => reason === reasons[n - 1])).toEqual([]);
  });

  it('is ready in session mode', async () => {
    const { http } = await startBehind('session');
    await until('it is ready', async () => (await http.get('/health/ready')).status === 200);
  });

  it('has its own settings in session mode, which PgBouncer does not take at the start of a connection', async () => {
    await asAdmin((admin) => admin.query(`ALTER DATABASE ${nameOf(database)} SET DateStyle = 'German'`));
    const { app } = await startBehind('session');
    const settings = listOf(`
      DateStyle, statement_timeout, lock_timeout, idle_in_transaction_session_timeout
    `);
    const { rows } = await poolOf(app).query({
      text: `SELECT ${settings.map((name) => `current_setting('${name}')`).join(', ')}`,
      rowMode: 'array',
    });
    expect(rows).toEqual([['ISO, MDY', '10s', '5s', '10s']]);
  });

  it('is ready again when a database that was killed is back, and a pooler that rests after a failed login is not', async () => {
    const postgres = await OwnPostgres.start();
    const resting = await PgBouncer.start(postgres.url, 'session', { server_login_retry: '3600' });
    try {
      pooler = await PgBouncer.start(postgres.url, 'session');
      instance = await startInstance({ ...database, serviceUrl: pooler.url }, {});
      const { http } = instance;
      const isReady = async () => (await http.get('/health/ready')).status === 200;
      await until('it is ready', isReady);
      const served = (url: string) => oneRow(url).then(...IT_IS_OR_NOT);
      expect(await served(resting.url)).toBe(true);
      await postgres.end('SIGKILL');
      await until('both poolers have failed', async () => !(await served(resting.url)) && !(await isReady()));
      await postgres.start();
      await until('it is ready again', isReady);
      await expect(oneRow(resting.url)).rejects.toThrow('server_login_retry');
      // It rests for as short as it can.
      expect(readFileSync('deploy/pgbouncer/pgbouncer.ini', 'utf8')).toMatch(/^server_login_retry = 1$/m);
    } finally {
      await instance?.app.close();
      instance = undefined;
      await resting.stop();
      await postgres.drop();
    }
  });
});

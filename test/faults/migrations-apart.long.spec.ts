import { randomBytes } from 'node:crypto';
import { execFile } from 'node:child_process';
import { Client } from 'pg';
import { MIGRATIONS } from '../../migrations/index.js';
import { Http, until } from '../support/spec.js';
import { whatIsWrongWith503 } from '../support/load.js';
import { SpawnedService } from '../support/spawned-service.js';
import { freePort } from '../support/free-port.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';
import { WayToDatabase } from '../support/way-to-database.js';

// As in src/platform/database/migrations/migrate.ts.
const LOCK = '7163106617430109543';

describe('a start on an unmigrated database', () => {
  let admin: Client;
  let name: string;
  let url: string;
  let http: Http;
  let environment: Record<string, string>;

  const urlOf = (database: string): string => {
    const given = new URL(process.env.TEST_DATABASE_URL!);
    given.pathname = `/${database}`;
    return given.href;
  };
  beforeEach(async () => {
    admin = new Client({ connectionString: urlOf('postgres') });
    await admin.connect();
    name = `empty_${randomBytes(8).toString('hex')}`;
    await admin.query(`CREATE DATABASE ${name} TEMPLATE template0`);
    url = urlOf(name);
    const port = await freePort();
    http = new Http(`http://127.0.0.1:${port}`);
    environment = {
      NODE_ENV: 'production',
      PORT: String(port),
      BASE_URL: http.url,
      DATABASE_URL: url,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    };
  });
  afterEach(async () => {
    await SpawnedService.killAll();
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await admin.end();
  });

  const statusOf = (path: string) =>
    http.get(path).then(
      ({ status }) => status,
      () => 0,
    );
  const migrate = () =>
    new Promise<{ code: number; out: string; err: string }>((resolve) => {
      // Only the database is needed: no key, no public URL.
      const env = { PATH: process.env.PATH, NODE_ENV: 'production', DATABASE_URL: url };
      execFile(process.execPath, ['dist/src/operator.js', 'migrate'], { env }, (error, out, err) =>
        resolve({ code: error ? Number(error.code) : 0, out, err }),
      );
    });

  it('waits, live but not ready, for the operator tool to migrate, if it must not migrate itself', async () => {
    const service = new SpawnedService({ ...environment, MIGRATE_ON_START: 'false' });
    await until('it says what it waits for', () =>
      /waiting until .{1,2}npm run operator -- migrate/.test(service.printed),
    );
    expect([await statusOf('/health/live'), await statusOf('/health/ready')]).toEqual([200, 503]);
    const asked = new Client({ connectionString: url });
    await asked.connect();
    expect((await asked.query("SELECT to_regclass('users') AS users")).rows).toEqual([{ users: null }]);
    await asked.end();
    const { code, out, err } = await migrate();
    expect([code, err]).toEqual([0, '']);
    expect(JSON.parse(out)).toEqual({ migrations_run: MIGRATIONS.map((migration) => migration.name) });
    await service.ready();
    expect(await statusOf('/health/ready')).toBe(200);
    expect(JSON.parse((await migrate()).out)).toEqual({ migrations_run: [] });
    expect(await service.stop()).toBe(0);
  });

  it('waits on if the database is away meanwhile', async () => {
    const way = await WayToDatabase.closed(url);
    await way.open();
    const service = new SpawnedService({ ...environment, DATABASE_URL: way.url, MIGRATE_ON_START: 'false' });
    try {
      await until('it waits for the migrations', () => service.printed.includes('missing migrations'));
      await way.close();
      await until('it waits for the database', () => service.printed.includes('Waiting for the database: '));
      expect(await statusOf('/health/live')).toBe(200);
      await way.open();
      expect((await migrate()).code).toBe(0);
      await service.ready();
      expect(await service.stop()).toBe(0);
    } finally {
      await way.close();
    }
  });

  it('is live, but not ready, while it migrates', async () => {
    const other = new Client({ connectionString: url });
    await other.connect();
    await other.query('SELECT pg_advisory_lock($1)', [LOCK]);
    const service = new SpawnedService(environment);
    await until('it is alive', async () => (await statusOf('/health/live')) === 200);
    for (const path of ['/health/ready', '/o/token', '/']) {
      const answer = await http.get(path);
      expect([path, answer.status, whatIsWrongWith503(answer)]).toEqual([path, 503, undefined]);
      expect(answer.headers.get('x-request-id')).toMatch(/./);
    }
    await other.end();
    await service.ready();
    expect(await statusOf('/health/ready')).toBe(200);
    expect(await service.stop()).toBe(0);
  });

  it('can be stopped while it waits', async () => {
    const service = new SpawnedService({ ...environment, MIGRATE_ON_START: 'false' });
    await until('it is alive', async () => (await statusOf('/health/live')) === 200);
    expect(await service.stop()).toBe(0);
  });
});

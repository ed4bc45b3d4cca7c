import { randomBytes } from 'node:crypto';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { Client } from 'pg';
import { DataSource } from 'typeorm';
import { loadSettings, type Settings } from '#platform/config/settings.js';
import { dataSourceOptions } from '#platform/database/connections/data-source.js';
import { createLog } from '#platform/http/server/logging.js';
import { prepareDatabase } from '#start/prepare-database.js';
import { startFailure } from '#start/start-error.js';
import { waitForDatabase } from '#start/wait-for-database.js';
import { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { EncryptionCanaryEntity } from '#events/webhooks/signing/encryption-canary.entity.js';
import { verifyEncryptionKeys } from '#events/webhooks/signing/encryption-canary.js';
import { HeldTimers } from '../support/held-timers.js';
import { PATIENT_WITH_DATABASE, SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { freePort } from '../support/free-port.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';
import { WayToDatabase } from '../support/way-to-database.js';

const HIDDEN = 'hidden-word';
// As in src/platform/database/migrations/migration-lock.ts.
const LOCK = '7163106617430109543';

const settingsWith = (settings: Record<string, string>): Promise<Settings> =>
  loadSettings({
    NODE_ENV: 'production',
    BASE_URL: 'http://127.0.0.1',
    ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    ...settings,
  });
/** What a start does before it serves, in this process. */
async function prepareWith(settings: Settings, say: (line: string) => void): Promise<void> {
  await waitForDatabase(settings.databaseUrl!, settings.databaseWait, say);
  await prepareDatabase(settings, createLog('silent', { write: () => undefined }), undefined, say);
}

describe('a start that fails', () => {
  let admin: Client;
  const role = `no_rights_${randomBytes(6).toString('hex')}`;

  beforeAll(async () => {
    admin = new Client({ connectionString: at('/postgres') });
    await admin.connect();
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${HIDDEN}'`);
    await admin.query(`CREATE DATABASE ${role} TEMPLATE template0`);
  });
  afterEach(() => SpawnedService.killAll());
  afterAll(async () => {
    await admin.query(`DROP DATABASE ${role} WITH (FORCE)`);
    await admin.query(`DROP ROLE ${role}`);
    await admin.end();
  });

  const at = (pathname: string, user?: string, password?: string): string => {
    const url = new URL(process.env.TEST_DATABASE_URL!);
    return Object.assign(url, { pathname, ...(user ? { username: user, password } : {}) }).href;
  };
  const start = async (settings: Record<string, string>): Promise<SpawnedService> => {
    const port = String(await freePort());
    const service = new SpawnedService({
      NODE_ENV: 'production',
      PORT: port,
      BASE_URL: `http://127.0.0.1:${port}`,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      LOG_LEVEL: 'error',
      ...settings,
    });
    return service;
  };
  /** The only line of the log. */
  const lastWords = async (settings: Record<string, string>): Promise<string> => {
    const service = await start(settings);
    expect(await service.exit()).toBe(1);
    expect(service.printed).not.toContain(HIDDEN);
    const lines = service.printed.trim().split('\n');
    // Lines about waiting come before it.
    const fatal = lines.map((line) => JSON.parse(line) as { level: string; msg: string; err?: unknown });
    expect(fatal.filter(({ level }) => level === 'fatal')).toHaveLength(1);
    expect(fatal.at(-1)).toMatchObject({ level: 'fatal' });
    expect(fatal.at(-1)!.err).toBeUndefined();
    return fatal.at(-1)!.msg;
  };

  /** The same of a database that cannot be used, without a process of its own: that it is logged, and ends the process, is what {@link lastWords} shows of others. */
  const wordsAbout = async (settings: Record<string, string>): Promise<string> => {
    const preparing = prepareWith(await settingsWith(settings), () => undefined);
    const { message, err } = startFailure(
      await preparing.then(
        () => undefined,
        (error: unknown) => error,
      ),
    );
    expect([message.includes(HIDDEN), err]).toEqual([false, undefined]);
    return message;
  };

  it('because of a wrong password, a missing database, a missing privilege or missing TLS says so at once, and names the setting', async () => {
    const [password, database, right, tls] = await Promise.all([
      wordsAbout({ DATABASE_URL: at('/postgres', role, 'not-the-hidden-one') }),
      wordsAbout({ DATABASE_URL: at('/no_such_database') }),
      lastWords({ DATABASE_URL: at(`/${role}`, role, HIDDEN) }),
      wordsAbout({ DATABASE_URL: `${at('/postgres')}?sslmode=verify-full` }),
    ]);
    expect(password).toBe('DATABASE_URL: the database rejected the user or password (28P01)');
    expect(database).toBe('DATABASE_URL: the server has no database of that name (3D000)');
    expect(right).toContain(
      `DATABASE_URL: the role ${role} may not create tables in the schema public, the first of its search_path: GRANT CREATE ON`,
    );
    expect(tls).toBe('DATABASE_URL: the server does not support TLS, which sslmode in the URL requires');
  });

  describe('because of a database', () => {
    let silent: Server;
    beforeAll(async () => {
      silent = createServer(() => undefined);
      await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    });
    afterAll(() => silent.close());

    it('that does not answer or is not there waits for the configured time, and says so', async () => {
      const { port } = silent.address() as AddressInfo;
      const words = await Promise.all([
        lastWords({
          DATABASE_URL: `postgres://u:${HIDDEN}@127.0.0.1:${port}/x`,
          DATABASE_WAIT_SECONDS: '1',
        }),
        wordsAbout({
          DATABASE_URL: `postgres://u:${HIDDEN}@127.0.0.1:${await freePort()}/x`,
          DATABASE_WAIT_SECONDS: '2',
        }),
      ]);
      expect(words).toEqual([
        'DATABASE_URL: the database does not respond; waited for 1 s (DATABASE_WAIT_SECONDS)',
        'DATABASE_URL: the database does not respond (ECONNREFUSED); waited for 2 s (DATABASE_WAIT_SECONDS)',
      ]);
    });
  });

  it('because the port is in use names PORT', async () => {
    const taken = createServer();
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
    const database = await createTestDatabase();
    try {
      const { port } = taken.address() as AddressInfo;
      const words = await lastWords({
        PORT: String(port),
        DATABASE_URL: database.url,
      });
      expect(words).toBe(`PORT: port ${port} of 127.0.0.1 is already in use (EADDRINUSE)`);
    } finally {
      taken.close();
      await database.drop();
    }
  });

  it('although the database is prepared, when schedules and connections have begun, ends the process too', async () => {
    const database = await createTestDatabase();
    try {
      const failing = await start({
        DATABASE_URL: database.url,
        OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://127.0.0.1:9/v1/metrics',
        OTEL_METRIC_EXPORT_INTERVAL: '0',
      });
      expect(await failing.exit()).toBe(1);
      expect(failing.printed).toContain('"msg":"The service cannot start: ');
    } finally {
      await database.drop();
    }
  });

  it('because the key is not the database’s names ENCRYPTION_KEY and the id of the expected key', async () => {
    const database = await createTestDatabase();
    try {
      const dataSource = await new DataSource({
        ...dataSourceOptions(database.url, 1),
        entities: [EncryptionCanaryEntity, EndpointEntity],
      }).initialize();
      // As a first instance does; test/medium/encryption-canary.spec.ts proves what is accepted together with a previous key.
      await verifyEncryptionKeys(dataSource, [Buffer.from(TEST_ENCRYPTION_KEY, 'base64')]);
      await dataSource.destroy();
      const key = Buffer.alloc(32, 7).toString('base64');
      const words = await wordsAbout({ DATABASE_URL: database.url, ENCRYPTION_KEY: key });
      expect(words).toMatch(/ENCRYPTION_KEY.*\b[0-9a-f]{8}\b/);
      expect(words).not.toContain(key);
    } finally {
      await database.drop();
    }
  });

  it('because a data folder cannot be created exits, and names the folder', async () => {
    // test/faults/process.spec.ts proves that mistakes in settings end the process.
    await expect(loadSettings({ DATA_DIR: '/proc/x' })).rejects.toThrow(
      /^DATA_DIR: the encryption key cannot be stored in \/proc\/x: /,
    );
    const withKey = new SpawnedService({
      DATA_DIR: '/proc/x/y',
      PORT: String(await freePort()),
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    });
    expect(await withKey.exit()).toBe(1);
    expect(withKey.printed).toContain('/proc/x');
  });
});

describe('a start before its database', () => {
  it('waits for the database, logs that and for how long, and then serves requests; it warns of nothing if the metrics need a token', async () => {
    const database = await createTestDatabase();
    const way = await WayToDatabase.closed(database.url);
    const port = String(await freePort());
    const service = new SpawnedService(
      {
        NODE_ENV: 'production',
        PORT: port,
        BASE_URL: `http://127.0.0.1:${port}`,
        DATABASE_URL: way.url,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
        METRICS_TOKEN: 'a-token-for-the-metrics',
      },
      PATIENT_WITH_DATABASE,
    );
    try {
      await until('it waits', () => service.printed.includes('for the database: '));
      expect(service.printed).toMatch(/Waiting up to 60 s for the database: .*ECONNREFUSED/);
      await way.open();
      await service.ready();
      expect(service.printed.match(/Waiting up to \d+ s for the database/g)).toHaveLength(1);
      expect(await service.stop()).toBe(0);
      expect(service.printed).not.toMatch(/"level":"(warn|error|fatal)"/);
    } finally {
      await SpawnedService.killAll();
      await way.close();
      await database.drop();
    }
  });
});

describe('a start while another one migrates', () => {
  let database: Awaited<ReturnType<typeof createTestDatabase>>;
  let other: Client;
  beforeEach(async () => {
    database = await createTestDatabase();
    other = new Client({ connectionString: database.url });
    await other.connect();
  });
  afterEach(async () => {
    await other.end();
    await database.drop();
  });

  const lock = () => other.query('SELECT pg_advisory_lock($1)', [LOCK]);
  const unlock = () => other.query('SELECT pg_advisory_unlock($1)', [LOCK]);
  /** Where the start has come to, in this process: test/faults/process.spec.ts starts two processes on one database. */
  const start = async (migrates: boolean) => {
    const said: string[] = [];
    const settings = await settingsWith({
      DATABASE_URL: database.url,
      MIGRATE_ON_START: String(migrates),
      BOOTSTRAP_OPERATOR_EMAIL: 'first@operator.example',
      BOOTSTRAP_OPERATOR_PASSWORD: 'a long first password',
      BOOTSTRAP_OPERATOR_CLIENT_ID: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735',
      BOOTSTRAP_OPERATOR_CLIENT_SECRET: 's'.repeat(32),
    });
    const ready = prepareWith(settings, (line) => void said.push(line));
    return { said, ready };
  };

  it('waits for it before it creates the first operator, and not if nothing is missing', async () => {
    await lock();
    // After which they say that they wait.
    const limits = HeldTimers.hold(5_000, 5_000, 'migration-lock');
    const starts = await Promise.all([true, false].map((migrates) => start(migrates)));
    await until('both wait', () => limits.count === starts.length);
    limits.letPass();
    limits.release();
    const says = 'for the lock of the migrations, held by';
    await until('both say so', () => starts.every(({ said }) => said.join().includes(says)));
    expect(await database.query('SELECT 1 FROM users')).toEqual([]);
    await unlock();
    for (const { ready } of starts) await ready;
    expect(await database.query('SELECT email FROM users')).toEqual([{ email: 'first@operator.example' }]);

    await lock();
    for (const migrates of [true, false]) {
      const { said, ready } = await start(migrates);
      await ready;
      expect(said).toEqual([]);
    }
  });
});

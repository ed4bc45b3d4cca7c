import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { once } from 'node:events';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Client } from 'pg';
import { MIGRATIONS } from '../../migrations/index.js';
import { BrowserSession, Http, until } from '../support/spec.js';
import { SHUTDOWN_LIMITS, SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { PATIENT, SESSION_SETTINGS, sessionSettings } from '../support/session-settings.js';
import { untilWaitingForLocks } from '../support/locks.js';
import { freePort } from '../support/free-port.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';

describe('the process', () => {
  afterAll(() => SpawnedService.killAll());

  it('that would run the demonstration for everybody exits with 1, names the setting and creates nothing', async () => {
    const root = await mkdtemp(path.join(tmpdir(), 'charging-process-'));
    try {
      // That alone is no mistake: it is refused where the demonstration would run. test/faults/setting-lines.spec.ts has others.
      const service = new SpawnedService({ DATA_DIR: path.join(root, 'data'), HOST: '0.0.0.0' });
      expect(await service.exit()).toBe(1);
      const { level, msg } = JSON.parse(service.printed) as { level: string; msg: string };
      expect(level).toBe('fatal');
      expect(msg).toMatch(/^The service cannot start with these settings: (.*; )?HOST must/);
      expect(await readdir(root)).toEqual([]);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });

  const production = (databaseUrl: string, port: number, publicPort: number): Record<string, string> => ({
    NODE_ENV: 'production',
    PORT: String(port),
    BASE_URL: `http://127.0.0.1:${publicPort}`,
    DATABASE_URL: databaseUrl,
    ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    DATABASE_POOL_SIZE: '5',
  });
  const operator = {
    BOOTSTRAP_OPERATOR_EMAIL: 'first@operator.example',
    BOOTSTRAP_OPERATOR_PASSWORD: 'a password from the settings',
    BOOTSTRAP_OPERATOR_CLIENT_ID: 'clnt01HN2NJ9NMRZBXT1H6FT9N7735',
    BOOTSTRAP_OPERATOR_CLIENT_SECRET: 'a secret: from the settings, 100% as given é',
  };
  const basic = {
    id: operator.BOOTSTRAP_OPERATOR_CLIENT_ID,
    secret: operator.BOOTSTRAP_OPERATOR_CLIENT_SECRET,
  };
  const token = (url: string) => new Http(url).token({ grant_type: 'client_credentials' }, basic);

  it('starts twice at once on an empty database with one migration and one operator, who can work', async () => {
    const name = `empty_${randomBytes(8).toString('hex')}`;
    const url = new URL(process.env.TEST_DATABASE_URL!);
    url.pathname = '/postgres';
    const admin = new Client({ connectionString: url.href });
    await admin.connect();
    await admin.query(`CREATE DATABASE ${name} TEMPLATE template0`);
    url.pathname = `/${name}`;
    const ports = [await freePort(), await freePort()];
    const start = (port: number) =>
      new SpawnedService({ ...production(url.href, port, ports[0]!), ...operator });
    try {
      const services = ports.map(start);
      await Promise.all(services.map((service) => service.ready()));
      for (const port of ports) {
        const http = new Http(`http://127.0.0.1:${port}`);
        expect((await http.get('/health/ready')).status).toBe(200);
        const answer = await token(http.url);
        expect(answer.status).toBe(200);
        const users = await http.get('/admin/users', { bearer: answer.json.access_token as string });
        expect(users.json).toMatchObject([{ email: 'first@operator.example', role: 'operator' }]);
      }
      const browser = new BrowserSession(`http://127.0.0.1:${ports[0]}`);
      await browser.logIn(operator.BOOTSTRAP_OPERATOR_EMAIL, operator.BOOTSTRAP_OPERATOR_PASSWORD);
      const database = new Client({ connectionString: url.href });
      await database.connect();
      expect((await database.query('SELECT 1 FROM migrations')).rows).toHaveLength(MIGRATIONS.length);
      expect((await database.query('SELECT 1 FROM clients')).rows).toHaveLength(1);
      await database.end();
      expect(services.map(({ printed }) => printed).join()).not.toMatch(/from the settings|postgres:\/\//);
      expect(await Promise.all(services.map((service) => service.stop()))).toEqual([0, 0]);
      // The output consists only of log lines.
      for (const { printed } of services) {
        // The secret has a percent sign.
        expect(printed).toMatch(/"level":"warn"[^\n]*BOOTSTRAP_OPERATOR_CLIENT_SECRET contains/);
        const lines = printed.trim().split('\n');
        expect(lines.map((line) => (JSON.parse(line) as { level: unknown }).level)).toContain('info');
      }
    } finally {
      await SpawnedService.killAll();
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      await admin.end();
    }
  });

  describe('told to stop', () => {
    let database: TestDatabase;
    let port: number;
    let url: string;

    /** Its shutdown limits expire only when the test says so. */
    const start = () => {
      const heldTimers = Object.values(SHUTDOWN_LIMITS);
      // No request gives up, however long it takes until all of them wait for a lock.
      const env = { ...production(database.url, port, port), ...sessionSettings(database, PATIENT) };
      return new SpawnedService({ ...env, ...operator }, { heldTimers, imports: [SESSION_SETTINGS] });
    };

    beforeEach(async () => {
      database = await createTestDatabase();
      port = await freePort();
      url = `http://127.0.0.1:${port}`;
    });
    afterEach(async () => {
      await SpawnedService.killAll();
      await database.drop();
    });

    const isOpen = () =>
      new Promise<boolean>((resolve) => {
        const socket = connect(port, '127.0.0.1', () => resolve(true));
        socket.on('error', () => resolve(false));
        socket.on('connect', () => socket.destroy());
      });

    it('accepts nothing new, finishes requests under way, and exits with 0; a second signal changes nothing', async () => {
      const service = await start().ready();
      const bearer = (await token(url)).json.access_token as string;
      await database.query('BEGIN');
      // Reads continue; each of these writes is one statement.
      await database.query('LOCK TABLE users IN SHARE MODE');
      const answers = Array.from({ length: 4 }, (_, n) =>
        new Http(url).send('/admin/users', { bearer, json: { email: `n${n}@mail.example`, name: 'Late' } }),
      );
      await untilWaitingForLocks(database, 4);
      service.signal('SIGTERM');
      await until('nothing new is taken', async () => !(await isOpen()));
      service.signal('SIGTERM');
      service.signal('SIGINT');
      await database.query('COMMIT');
      expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([201, 201, 201, 201]);
      // Keep-alive connections do not delay it: it exits when the work is done, and not because a limit expired.
      expect(await service.exit()).toBe(0);
    });

    it('exits with 0 at once while it still waits to migrate', async () => {
      await database.query('BEGIN');
      await database.query('LOCK TABLE migrations');
      const service = start();
      await untilWaitingForLocks(database, 1);
      service.signal('SIGTERM');
      expect(await service.exit()).toBe(0);
      await database.query('ROLLBACK');
    });

    // Contract §14: within 10 s. The client is cut off at the first of the two limits, and then everything ends cleanly: the
    // second limit is not needed. test/unit/stop-on-signals.spec.ts proves that the second one is below 10 s.
    it('exits with 0 within 10 s although a client never finishes its request', async () => {
      const service = await start().ready();
      const socket = connect(port, '127.0.0.1');
      socket.on('error', () => undefined);
      const head =
        'Host: x\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 100\r\n\r\n';
      socket.write(`POST /o/token HTTP/1.1\r\n${head}grant_type=`);
      await until('the request has begun', async () => (await token(url)).status === 200);
      const cutOff = once(socket, 'close');
      service.signal('SIGTERM');
      await until('nothing new is taken', async () => !(await isOpen()));
      expect(socket.closed).toBe(false);
      service.letTimersPass();
      await cutOff;
      expect(await service.exit()).toBe(0);
    });
  });
});

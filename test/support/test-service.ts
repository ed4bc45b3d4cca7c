import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { createApp } from '../../src/app.setup.js';
import { AccessChanges } from '../../src/database/access-changes.service.js';
import { loadSettings, type Settings } from '../../src/config/settings.js';
import { createLog } from '../../src/http/logging.js';
import { createTestDatabase, type TestDatabase } from './test-database.js';
import { Factory } from './factory.js';
import { freePort } from './free-port.js';
import { HeldTimers } from './held-timers.js';
import { Http } from './http.js';

// A request waits 3 s for a connection of the pool, and is refused. On a busy machine that would refuse what has nothing to do
// with it; a test of the limit itself holds it in its own hand.
HeldTimers.hold(3_000, 3_000, '/pg-pool/');

export { freePort };

/** One running instance of the service over a real database and real HTTP. */
export interface TestInstance {
  app: NestFastifyApplication;
  settings: Settings;
  url: string;
  http: Http;
  /** Every log line it wrote. */
  log: string[];
}

/** A service under test: one or more instances over one database of its own. */
export interface TestService extends TestInstance {
  database: TestDatabase;
  instances: TestInstance[];
  make: Factory;
  stop(): Promise<void>;
}

export interface TestServiceOptions {
  /** Settings as in the environment. */
  env?: Record<string, string>;
  instances?: number;
  /** Settings of PostgreSQL for the service's connections, in place of its own. */
  databaseOptions?: Record<string, string>;
}

/** 32 bytes in base64; the same for every instance. */
export const TEST_ENCRYPTION_KEY = Buffer.alloc(32, 'k').toString('base64');

export async function startService({
  env: settings = {},
  instances = 1,
  databaseOptions,
}: TestServiceOptions = {}): Promise<TestService> {
  const database = await createTestDatabase();
  const url = `${database.url}?${new URLSearchParams(databaseOptions)}`;
  const env = { ...(databaseOptions ? { DATABASE_URL: url } : {}), ...settings };
  const started: TestInstance[] = [];
  const first = await startInstance(database, env);
  started.push(first);
  // All instances have the first one's base URL, as behind a load balancer.
  while (started.length < instances)
    started.push(await startInstance(database, { BASE_URL: first.url, ...env }));
  return {
    ...first,
    // What a test changes behind the service's back, every instance has heard of when the test goes on.
    database: {
      ...database,
      query: async <T>(sql: string, params?: unknown[]) => {
        const rows = await database.query<T>(sql, params);
        await Promise.all(started.map(({ app }) => app.get(AccessChanges).catchUp()));
        return rows;
      },
    },
    instances: started,
    make: new Factory(first),
    stop: async () => {
      await Promise.all(started.map(({ app }) => app.close()));
      await database.drop();
    },
  };
}

/** One more instance over a database that is there. */
export async function startInstance(
  database: TestDatabase,
  env: Record<string, string>,
): Promise<TestInstance> {
  const port = await freePort();
  const settings = await loadSettings({
    NODE_ENV: 'test',
    PORT: String(port),
    BASE_URL: `http://127.0.0.1:${port}`,
    DATABASE_URL: database.serviceUrl ?? database.url,
    DATABASE_POOL_SIZE: '10',
    ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    ...env,
  });
  const log: string[] = [];
  const app = await createApp(settings, createLog('debug', { write: (line) => void log.push(line) }));
  await app.listen(port, '127.0.0.1');
  const url = `http://127.0.0.1:${port}`;
  return { app, settings, url, http: new Http(url), log };
}

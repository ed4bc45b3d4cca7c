// Why services are not just started here: a start costs more than the tests of most files, so the files of a worker share services of few kinds. And a run may take
// place under foreign conditions, which every start goes through.
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { Pool } from 'pg';
import { DataSource } from 'typeorm';
import { createApp } from '#start/app.setup.js';
import { AccessChanges } from '#platform/database/changes/access-changes.service.js';
import { loadSettings, type Settings } from '#platform/config/settings.js';
import { createLog } from '#platform/http/server/logging.js';
import { atEndOfFile, atEndOfWorker, showInFailures } from './between-files.js';
import { hashCheaply } from './cheap-passwords.js';
import { createTestDatabase, readsBy, type Reads, type TestDatabase } from './test-database.js';
import { Factory } from './factory.js';
import { CONDITION_OF_RUN, LOOPBACK, LOOPBACK_ADDRESS, type ForeignCondition } from './foreign-conditions.js';
import { createForeignDatabase } from './foreign-database.js';
import { freePort } from './free-port.js';
import { Haproxy } from './haproxy.js';
import { PATIENT, setInSessions } from './session-settings.js';
import { Http } from './http.js';
import { TEST_ENCRYPTION_KEY } from './test-encryption-key.js';
import './patience.js';

export { freePort, PATIENT, TEST_ENCRYPTION_KEY };

/** One running instance of the service with a real database and real HTTP. */
export interface TestInstance {
  app: NestFastifyApplication;
  settings: Settings;
  url: string;
  http: Http;
  /** Every line of its log. */
  log: string[];
}

/** A service under test: one or more instances on one database. */
export interface TestService extends TestInstance {
  database: TestDatabase & Reads;
  instances: TestInstance[];
  make: Factory;
  stop(): Promise<void>;
}

export interface TestServiceOptions {
  /** Environment variables. */
  env?: Record<string, string>;
  instances?: number;
  /** In its address, instead of 127.0.0.1. */
  hostname?: string;
  /** PostgreSQL settings of the service's connections, instead of its own; {@link PATIENT} where requests wait for locks. */
  databaseOptions?: Record<string, string>;
  /** What the place is like where it is installed; of the run (`FOREIGN_CONDITION=name`) unless a test says it. */
  condition?: ForeignCondition;
}

/** What many files need and no other is disturbed by: endpoints on this machine, addresses that a test chooses, and waits for locks. */
const WIDER: TestServiceOptions = {
  env: { WEBHOOK_ALLOW_PRIVATE_ADDRESSES: 'true', TRUSTED_PROXIES: '127.0.0.1' },
  databaseOptions: PATIENT,
};
/** The services that files share. A file gets the first that has all it asks for: few kinds are started seldom. */
const KINDS: TestServiceOptions[] = [{}, WIDER, { ...WIDER, instances: 2 }];
const shared = new Map<string, Promise<TestService>>();
/** These, and the one with mail (set-up.ts). */
const SHARED_AT_MOST = KINDS.length + 1;

type Values = Record<string, string>;
const isPartOf = (whole: Values = {}, part: Values = {}): boolean =>
  Object.entries(part).every(([name, value]) => whole[name] === value);
const hasAllOf = (kind: TestServiceOptions, asked: TestServiceOptions): boolean =>
  isPartOf(kind.env, asked.env) &&
  isPartOf(kind.databaseOptions, asked.databaseOptions) &&
  (kind.instances ?? 1) === (asked.instances ?? 1) &&
  kind.hostname === asked.hostname;

/**
 * A running service for all files of this worker that ask for the same, or for less than others: starting one costs more than most
 * files do. Such a file makes its own users and clients, and neither counts all rows nor changes what others rely on;
 * {@link startService} starts one that belongs to the file alone.
 */
export async function sharedService(asked: TestServiceOptions = {}): Promise<TestService> {
  hashCheaply();
  const options = KINDS.find((kind) => hasAllOf(kind, asked)) ?? asked;
  const key = JSON.stringify(options);
  const found = shared.get(key) ?? start(options);
  // The one that was asked for last stays longest.
  shared.delete(key);
  shared.set(key, found);
  const [oldest] = shared.keys();
  if (shared.size > SHARED_AT_MOST) await stopShared(oldest!);
  const service = await found.catch((error: unknown) => {
    // The next file tries again.
    shared.delete(key);
    throw error;
  });
  const stop = async () => service.instances.forEach(({ log }) => (log.length = 0));
  atEndOfFile(stop);
  return { ...service, stop };
}

async function stopShared(key: string): Promise<void> {
  const service = await shared.get(key);
  shared.delete(key);
  await service?.stop();
}

atEndOfWorker(() => Promise.all([...shared.keys()].map(stopShared)));

/** A service of the file alone, which is stopped when the file has ended, if not before. */
export async function startService(options: TestServiceOptions = {}): Promise<TestService> {
  hashCheaply();
  const service = await start(options);
  atEndOfFile(service.stop);
  return service;
}

/** The service of {@link sharedService} for the tests of a file, from `beforeAll` on. */
export const useSharedService = (options?: TestServiceOptions): TestService =>
  fromBeforeAll(() => sharedService(options));

/** The service of {@link startService} for the tests of a file, from `beforeAll` on. */
export const useService = (options?: TestServiceOptions): TestService =>
  fromBeforeAll(() => startService(options));

function fromBeforeAll(begin: () => Promise<TestService>): TestService {
  const service = {} as TestService;
  beforeAll(async () => void Object.assign(service, await begin()));
  return service;
}

async function start({
  env = {},
  instances = 1,
  hostname,
  databaseOptions,
  condition = CONDITION_OF_RUN,
}: TestServiceOptions): Promise<TestService> {
  const database = await (condition ? createForeignDatabase(condition) : createTestDatabase());
  if (databaseOptions) setInSessions(database, databaseOptions);
  const started: TestInstance[] = [];
  const first = await startInstance(database, env, hostname);
  started.push(first);
  // All instances use the first one's base URL, as behind a load balancer.
  while (started.length < instances)
    started.push(await startInstance(database, { BASE_URL: first.url, ...env }));
  let stopping: Promise<void> | undefined;
  return {
    ...first,
    // When a test changes rows without the service, every instance knows the change before the test continues.
    database: {
      ...database,
      ...readsBy(async <T>(sql: string, params?: unknown[]) => {
        const rows = await database.query<T>(sql, params);
        await Promise.all(started.map(({ app }) => app.get(AccessChanges).catchUp()));
        return rows;
      }),
    },
    instances: started,
    make: new Factory(first),
    stop: () => (stopping ??= Promise.all(started.map(({ app }) => app.close())).then(() => database.drop())),
  };
}

/** The pool of an instance. TypeORM does not say in its types which driver a data source has. */
export const poolOf = (app: NestFastifyApplication): Pool =>
  (app.get(DataSource, { strict: false }).driver as unknown as { master: Pool }).master;

/** Starts another instance on an existing database. */
export async function startInstance(
  database: TestDatabase,
  env: Record<string, string>,
  hostname: string = LOOPBACK,
): Promise<TestInstance> {
  const port = await freePort();
  const publicPort = CONDITION_OF_RUN?.balancer ? await freePort() : port;
  const url = `http://${hostname}:${publicPort}`;
  const settings = await loadSettings({
    NODE_ENV: 'test',
    PORT: String(port),
    BASE_URL: url,
    DATABASE_URL: database.serviceUrl ?? database.url,
    DATABASE_POOL_SIZE: '10',
    ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
    ...env,
  });
  const log: string[] = [];
  const app = await createApp(settings, createLog('debug', { write: (line) => void log.push(line) }));
  // A test waits for other things longer than the 10 s after which an idle connection is closed, and opening one is dear.
  poolOf(app).options.idleTimeoutMillis = 0;
  // Where client and service are one process, one that stood still for so long could send a request on a connection that it then closes.
  app.getHttpServer().keepAliveTimeout = 0;
  await app.listen(port, LOOPBACK_ADDRESS);
  if (publicPort !== port) await balance(publicPort, port, app);
  // Not by another app.close: Nest's proxy of the application ignores what is assigned to it.
  app.getHttpServer().once(
    'close',
    showInFailures(() => log),
  );
  return { app, settings, url, http: new Http(url), log };
}

/** Puts a load balancer in front of an instance, which ends with it. */
async function balance(publicPort: number, port: number, app: NestFastifyApplication): Promise<void> {
  const balancer = await Haproxy.start(publicPort, [port, port], { isPatient: true });
  await balancer.untilUp(2);
  app.getHttpServer().once('close', () => void balancer.stop());
}

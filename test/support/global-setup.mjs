import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { startEmbeddedPostgres } from '../../dist/src/database/embedded/embedded-postgres.js';
import { migrate } from '../../dist/src/database/migrate.js';

/** One real PostgreSQL for the whole run; each test file copies its database from this migrated template. */
export default async function globalSetup() {
  const dataDir = await mkdtemp(path.join(tmpdir(), 'charging-data-tests-'));
  // As root, PostgreSQL runs as another user, who must be able to enter.
  await chmod(dataDir, 0o755);
  const postgres = await startEmbeddedPostgres({
    dataDir,
    database: 'template_charging',
    say: (line) => process.stdout.write(`${line}\n`),
    settings: { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', max_connections: '300' },
  });
  await migrate(postgres.url, async () => {});
  process.env.TEST_DATABASE_URL = postgres.url;
  globalThis.testPostgres = { postgres, dataDir };
}

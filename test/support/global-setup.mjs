import { chmod, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/demo/embedded-postgres/embedded-postgres.js';
import { migrate } from '../../dist/src/database/migrations/migrate.js';

/** Starts one real PostgreSQL for the whole run; each test file copies its database from this migrated template. */
export default async function globalSetup() {
  // npm run test:watch keeps one.
  if (process.env.TEST_DATABASE_URL) return;
  const dataDir = await mkdtemp(path.join(tmpdir(), 'charging-data-tests-'));
  // When run as root, PostgreSQL switches to another user, who needs access to the folder.
  await chmod(dataDir, 0o755);
  const postgres = await startEmbeddedPostgres({
    dataDir,
    database: 'template_charging',
    say: (line) => process.stdout.write(`${line}\n`),
    settings: {
      fsync: 'off',
      synchronous_commit: 'off',
      full_page_writes: 'off',
      max_connections: '400',
      // Neither pays for itself in databases of a minute.
      jit: 'off',
      autovacuum: 'off',
      // Thousands of connections log in with passwords that protect nothing.
      scram_iterations: '1',
    },
  });
  // As in production: one role owns the schema, and the service uses another (test/support/test-database.ts).
  const roles = new URL(postgres.url);
  const admin = new pg.Client({ connectionString: roles.href });
  await admin.connect();
  await admin.query(`ALTER ROLE ${roles.username} PASSWORD '${roles.password}'`);
  for (const role of ['charging_owner', 'charging_service']) {
    await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${roles.password}'`);
  }
  await admin.query('ALTER DATABASE template_charging OWNER TO charging_owner');
  await admin.end();
  roles.username = 'charging_owner';
  await migrate(roles.href, undefined, { serviceRole: 'charging_service' });
  process.env.TEST_DATABASE_URL = postgres.url;
  globalThis.testPostgres = { postgres, dataDir };
}

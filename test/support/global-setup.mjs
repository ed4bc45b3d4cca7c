import { execFile } from 'node:child_process';
import { chmod, rm } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { startEmbeddedPostgres } from '../../dist/demo/embedded-postgres/embedded-postgres.js';
import { migrate } from '../../dist/src/platform/database/migrations/migrate.js';
import { makeDatabaseFolder } from '../../dist/test/support/database-folder.js';
import { CONDITION_OF_RUN } from '../../dist/test/support/foreign-conditions.js';
import { InstalledPostgres } from '../../dist/test/support/installed-postgres.js';
import { unpackRelease } from '../../dist/test/support/previous-release.js';

const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  max_connections: '400',
  // Neither pays for itself in databases of a minute.
  jit: 'off',
  autovacuum: 'off',
  // Thousands of connections log in with passwords that protect nothing.
  scram_iterations: '1',
};
const TEMPLATE = 'template_charging';
const ROLES = ['charging_owner', 'charging_service'];

/** Starts one real PostgreSQL for the whole run; each test file copies its database from this migrated template. */
export default async function globalSetup() {
  // npm run test:watch keeps one.
  if (process.env.TEST_DATABASE_URL) return;
  const { server, locale, fromRelease, rows, pooler } = CONDITION_OF_RUN ?? {};
  const stops = [];
  globalThis.endTestPostgres = async () => {
    for (const stop of stops.reverse()) await stop();
  };
  const postgres = server === 'installed' ? await startInstalled() : await startEmbedded();
  stops.push(postgres.stop);
  const url = new URL(postgres.url);
  const admin = async (database, ...statements) => {
    const client = new pg.Client({
      connectionString: Object.assign(new URL(url), { pathname: database }).href,
    });
    await client.connect();
    for (const statement of statements) await client.query(statement);
    await client.end();
  };
  await admin(
    'postgres',
    `ALTER ROLE ${url.username} PASSWORD '${url.password}'`,
    // As in production: one role owns the schema, and the service uses another (test/support/test-database.ts).
    ...ROLES.map((role) => `CREATE ROLE ${role} LOGIN PASSWORD '${url.password}'`),
    ...(locale
      ? [
          `DROP DATABASE ${TEMPLATE}`,
          `CREATE DATABASE ${TEMPLATE} TEMPLATE template0 LOCALE_PROVIDER icu ICU_LOCALE '${locale}'`,
        ]
      : []),
    `ALTER DATABASE ${TEMPLATE} OWNER TO ${ROLES[0]}`,
  );
  const owner = Object.assign(new URL(url), { username: ROLES[0] }).href;
  if (fromRelease) await migrateWithReleaseBefore(owner);
  await migrate(owner, undefined, { serviceRole: ROLES[1] });
  if (rows) await fill(url.href, rows);
  if (pooler) {
    const { PgBouncer } = await import('../../dist/test/support/pgbouncer.js');
    const many = { default_pool_size: '300', max_client_conn: '2000' };
    // No connection to the template stays open: it could not be copied.
    const probed = Object.assign(new URL(url), { pathname: 'postgres' }).href;
    const bouncer = await PgBouncer.start(probed, 'session', many, ROLES);
    stops.push(() => bouncer.stop());
    process.env.TEST_POOLER = new URL(bouncer.url).host;
  }
  process.env.TEST_DATABASE_URL = url.href;
}

async function startEmbedded() {
  const dataDir = await makeDatabaseFolder('charging-data-tests');
  // When run as root, PostgreSQL switches to another user, who needs access to the folder.
  await chmod(dataDir, 0o755);
  const postgres = await startEmbeddedPostgres({
    dataDir,
    database: TEMPLATE,
    say: (line) => process.stdout.write(`${line}\n`),
    settings: SETTINGS,
  });
  const stop = async () => {
    await postgres.stop();
    await rm(dataDir, { recursive: true, force: true });
  };
  return { url: postgres.url, stop };
}

async function startInstalled() {
  // From PostgreSQL 16 on.
  const settings = Object.fromEntries(
    Object.entries(SETTINGS).filter(([name]) => name !== 'scram_iterations'),
  );
  const postgres = await InstalledPostgres.start({ ...settings, archive_mode: 'off' });
  await postgres.query('postgres', `CREATE DATABASE ${TEMPLATE} TEMPLATE template0`);
  return { url: postgres.url(TEMPLATE), stop: () => postgres.remove() };
}

async function migrateWithReleaseBefore(url) {
  const folder = await unpackRelease();
  await promisify(execFile)(
    process.execPath,
    [path.join(folder, 'dist/src/operator.js'), 'migrate', '--service-role', ROLES[1]],
    { env: { PATH: process.env.PATH, DATABASE_URL: url } },
  );
  await rm(folder, { recursive: true });
}

async function fill(url, rows) {
  const { fillLarge } = await import('../../bench/large-database.mjs');
  const connection = new pg.Client({ connectionString: url });
  await connection.connect();
  await fillLarge(connection, { rows, say: () => undefined });
  await connection.end();
}

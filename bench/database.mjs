import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir, totalmem } from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { load } from './dist.mjs';

// A quarter of the memory, as PostgreSQL's documentation recommends for a dedicated server.
const BUFFERS_MB = Math.max(128, Math.floor(totalmem() / 4 / 1024 / 1024));
/** Where the settings differ from PostgreSQL's defaults; none of them makes a commit less durable. */
export const DATABASE_SETTINGS = {
  shared_buffers: `${BUFFERS_MB}MB`,
  max_wal_size: '4GB',
  // Otherwise a checkpoint could affect one workload and not another.
  checkpoint_timeout: '30min',
  max_connections: '200',
};
const TOLD = [
  'server_version',
  'fsync',
  'synchronous_commit',
  'full_page_writes',
  'wal_level',
  'shared_buffers',
];

/** A new cluster in a folder of its own, with the service's schema and `more` settings; it runs on the cores of this process. */
export async function startDatabase(more = {}) {
  const { startEmbeddedPostgres } = await import('../dist/demo/embedded-postgres/embedded-postgres.js');
  const { migrate } = await load('platform/database/migrations/migrate.js');
  const folder = await mkdtemp(path.join(tmpdir(), 'charging-data-bench-'));
  // When run as root, PostgreSQL switches to another user, who needs access to the folder.
  await chmod(folder, 0o755);
  const postgres = await startEmbeddedPostgres({
    ...{ dataDir: folder, database: 'bench', say: () => undefined },
    settings: { ...DATABASE_SETTINGS, ...more },
  });
  const pid = Number(
    (await readFile(path.join(folder, 'postgres', 'postmaster.pid'), 'utf8')).split('\n')[0],
  );
  const pools = [];
  const opened = async (url) => {
    await migrate(url, async () => undefined);
    const pool = new pg.Pool({ connectionString: url, max: 2 });
    // If a connection breaks, the next query fails and reports it.
    pool.on('error', () => undefined);
    pools.push(pool);
    const query = async (text, values) => (await pool.query(text, values)).rows;
    return { folder, pid, url, query, pool, log: path.join(folder, 'postgres.log') };
  };
  const first = await opened(postgres.url);
  return {
    ...first,
    /** Creates another database of the cluster, with the schema. */
    another: async (name) => {
      await first.query(`CREATE DATABASE ${name}`);
      const url = new URL(first.url);
      url.pathname = `/${name}`;
      return opened(url.href);
    },
    settings: async () => {
      const rows = await first.query(
        'SELECT name, current_setting(name) AS value FROM unnest($1::text[]) name',
        [[...TOLD, 'max_wal_size', 'checkpoint_timeout', 'autovacuum']],
      );
      return rows.map(({ name, value }) => `${name} ${value}`).join(', ');
    },
    stop: async () => {
      await Promise.all(pools.map((pool) => pool.end()));
      await postgres.stop();
      await rm(folder, { recursive: true, force: true });
    },
  };
}

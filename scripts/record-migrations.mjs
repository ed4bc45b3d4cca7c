// Writes what the migrations are (`migrations/digests.json`) and what they make (`migrations/schema.json`), as `npm run migration:record`
// does after compiling. Refuses a change of what a release contains. `--check`: only compares the digests.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync, writeSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

const folder = path.join(import.meta.dirname, '../migrations');
const read = (file) => readFileSync(path.join(folder, file), 'utf8');
const write = (file, content) =>
  writeFileSync(path.join(folder, file), `${JSON.stringify(content, undefined, 2)}\n`);
const refuse = (line) => {
  writeSync(process.stderr.fd, `${line}\n`);
  process.exit(1);
};

const digests = digestsOfMigrations();
const changed = Object.values(JSON.parse(read('../test/releases/releases.json')))
  .flatMap(({ migrations }) => Object.entries(migrations))
  .filter(([name, digest]) => digests[name] !== digest)
  .map(([name]) => name);
if (changed.length > 0)
  refuse(`Released, so it needs a new migration instead of a change: ${[...new Set(changed)].join(', ')}`);
if (process.argv.includes('--check')) {
  if (!isDeepStrictEqual(digests, JSON.parse(read('digests.json'))))
    refuse('migrations/digests.json is older than the migrations: npm run migration:record');
} else {
  write('digests.json', digests);
  write('schema.json', await schemaOfMigrations());
}

/**
 * The SHA-256 of each migration, by its name: of its text and of the data that it reads from other files there. The helpers in
 * `support/` are no part of it: they say how a step is done beside a running service, and may learn to do it better.
 */
function digestsOfMigrations() {
  const listed = [...read('index.ts').matchAll(/import \{ (\w+) \} from '\.\/(.+)\.js';/g)];
  return Object.fromEntries(
    listed.map(([, name, file]) => {
      const hash = createHash('sha256');
      for (const part of [...partsOf(`${file}.ts`)].sort())
        if (!part.startsWith('support/')) hash.update(read(part));
      return [name, hash.digest('hex')];
    }),
  );
}

/** The file, and what it imports of this folder. */
function partsOf(file, parts = new Set()) {
  if (parts.has(file)) return parts;
  parts.add(file);
  for (const [, imported] of read(file).matchAll(/from '(\.{1,2}\/.+)\.js';/g))
    partsOf(path.join(path.dirname(file), `${imported}.ts`), parts);
  return parts;
}

async function schemaOfMigrations() {
  const { default: pg } = await import('pg');
  const { startEmbeddedPostgres } = await import('../dist/demo/embedded-postgres/embedded-postgres.js');
  const { migrate } = await import('../dist/src/platform/database/migrations/migrate.js');
  const { readSchemaObjects } = await import('../dist/src/platform/database/migrations/schema-objects.js');
  const dataDir = await mkdtemp(path.join(tmpdir(), 'charging-schema-'));
  // When run as root, PostgreSQL switches to another user, who needs access to the folder.
  await chmod(dataDir, 0o755);
  const postgres = await startEmbeddedPostgres({ dataDir, database: 'fresh', say: () => undefined });
  const connection = new pg.Client({ connectionString: postgres.url });
  try {
    await migrate(postgres.url);
    await connection.connect();
    return await readSchemaObjects(async (sql) => (await connection.query(sql)).rows);
  } finally {
    await connection.end();
    await postgres.stop();
    await rm(dataDir, { recursive: true });
  }
}

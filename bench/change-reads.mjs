/**
 * What a read of the changes costs PostgreSQL, which every instance asks for forty times a second (docs/decisions/0006): processor time of
 * its connection, planned for every call as by default, and planned once as the service's connection has it. After `npm run build`:
 *
 *   node bench/change-reads.mjs
 */
import pg from 'pg';
import { startDatabase } from './database.mjs';
import { load } from './dist.mjs';
import { processorMs } from './machine.mjs';

const READS = 4_000;
const ROUNDS = 4;

const { AccessChangesRepository } = await load('platform/database/changes/access-changes.repository.js');
const { LISTENING } = await load('platform/database/connections/listener.service.js');
const database = await startDatabase();
try {
  const connection = new pg.Client({ connectionString: database.url });
  await connection.connect();
  await connection.query(
    "INSERT INTO access_changes (ids) SELECT ARRAY['x' || n] FROM generate_series(1, 100000) n",
  );
  await connection.query('ANALYZE access_changes');
  const repository = new AccessChangesRepository({
    query: async (statement) => (await connection.query(statement)).rows,
  });
  const [{ snapshot: since }] = await repository.readSince('3:3:', 1, false);
  const ways = {
    'planned for every call': { ...LISTENING, plan_cache_mode: 'auto' },
    'planned once': LISTENING,
  };
  for (let round = 0; round < ROUNDS; round++)
    for (const [name, settings] of Object.entries(ways)) {
      for (const [setting, value] of Object.entries(settings))
        await connection.query(`SET ${setting} = ${value}`);
      const before = processorMs(connection.processID);
      for (let n = 0; n < READS; n++) await repository.readSince(since, 200_001, false);
      const each = ((processorMs(connection.processID) - before) * 1000) / READS;
      process.stdout.write(`${name}: ${Math.round(each)} µs\n`);
    }
  await connection.end();
} finally {
  await database.stop();
}

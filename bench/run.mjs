/**
 * The cost of the service compared with the floor, in one run: `npm run bench`, or after `npm run build`:
 *
 *   node bench/run.mjs --help
 */
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { chart } from './chart.mjs';
import { startDatabase } from './database.mjs';
import { CONNECTIONS } from './load.mjs';
import { CORES, machine, PINNING, pinSelf } from './machine.mjs';
import { readOptions, USAGE } from './options.mjs';
import { findPgbench } from './pgbench.mjs';
import { memoryBound, report } from './report.mjs';
import { lastWarnings } from './servers.mjs';
import { CLIENTS, TOKENS } from './setting.mjs';
import { Stand } from './stand.mjs';
import { runWorkloads } from './workloads.mjs';

const say = (line) => void process.stdout.write(`${line}\n`);

try {
  const options = readOptions(process.argv.slice(2));
  if (options.help) say(USAGE);
  else await run(options);
} catch (error) {
  process.stderr.write(`The bench failed: ${error.message}\n`);
  process.exitCode = 1;
}

async function run(options) {
  const where = machine();
  if (PINNING.possible) pinSelf(CORES.load);
  else say(`WARNING: ${PINNING.why}. The figures are of little value.`);
  const pgbench = options.pgbench ? await findPgbench() : undefined;
  if (options.pgbench && !pgbench) say('pgbench is not installed: it is skipped.');
  const begun = performance.now();
  const database = await startDatabase();
  const small = new Stand(database, options.peers);
  const stands = [small];
  const bench = {
    ...{ options, pgbench, say, small },
    /** Creates another database, with servers of its own. */
    addStand: async (name) => {
      const stand = new Stand(await database.another(name));
      stands.push(stand);
      await stand.start();
      return stand;
    },
  };
  const clear = async () => {
    const stopped = await Promise.allSettled(stands.map((stand) => stand.stop()));
    await database.stop();
    const failed = stopped.find(({ status }) => status === 'rejected');
    if (failed) throw failed.reason;
  };
  const interrupted = () => void clear().finally(() => process.exit(1));
  for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, interrupted);
  try {
    await small.start();
    const { results, bounds, facts } = await runWorkloads(bench);
    const all = results.length > 0 ? [...bounds, memoryBound(results)] : bounds;
    const minutes = ((performance.now() - begun) / 60_000).toFixed(1);
    const notes = [
      ...(await circumstances(database, options, pgbench, where)),
      `the whole run took ${minutes} minutes`,
    ];
    const text = report({ results, bounds: all, notes, facts });
    say(`\n${text}`);
    await mkdir(path.dirname(options.out), { recursive: true });
    await writeFile(`${options.out}.md`, text);
    await writeFile(`${options.out}.svg`, chart({ results, bounds: all }));
    say(`Written to ${options.out}.md and ${options.out}.svg`);
  } catch (error) {
    const logs = stands.map(({ service }) => (service ? lastWarnings(service.logFile) : ''));
    const log = (await Promise.all(logs)).filter(Boolean).join('\n');
    await clear().catch(() => undefined);
    throw log ? new Error(`${error.message}\nThe service's log says:\n${log}`) : error;
  }
  await clear();
}

/** The circumstances of the measurement. */
async function circumstances(database, options, pgbench, where) {
  const { rounds, seconds, quick } = options;
  return [
    ...(quick ? ['**a quick run: it shows that everything works, not how fast it is**'] : []),
    `${new Date().toISOString()}: ${where}`,
    PINNING.possible
      ? `the server is pinned to core ${CORES.server}; the load and PostgreSQL to core ${CORES.load}`
      : `**${PINNING.why}**`,
    `${CONNECTIONS} persistent connections; ${rounds} rounds of ${seconds} s, in each the floor, the service, the wall and pgbench; medians of the rounds; every answer was checked`,
    `the floor: bare \`node:http\` and \`pg\` with a pool of 20, one row for each token, named statements that each connection prepares once, its own tables; for W8 a loop that only posts`,
    'the service: as in production, with its log at the default level in a file; limits so high that nothing is refused, but every request is counted; metrics on',
    `the small table: ${TOKENS.toLocaleString('en-GB')} live access tokens of users, all used in turn; ${CLIENTS} clients`,
    `PostgreSQL, embedded, in a new folder: ${await database.settings()}`,
    pgbench
      ? `${pgbench}: the same statements, prepared, from ${CONNECTIONS} connections on the core of the load; nothing runs on the other core`
      : '**pgbench is not installed or was not requested, and is skipped**',
  ];
}

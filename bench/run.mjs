/**
 * What the service costs beside the floor, all in one run: `npm run bench`, or after `npm run build`
 *
 *   node bench/run.mjs --help
 */
import { startDatabase } from './database.mjs';
import { CONNECTIONS } from './load.mjs';
import { CORES, machine, PINNING, pinSelf } from './machine.mjs';
import { measure } from './measure.mjs';
import { readOptions, USAGE } from './options.mjs';
import { findPgbench } from './pgbench.mjs';
import { report, write } from './report.mjs';
import { startFloor, startService } from './servers.mjs';
import { makeSetting, TOKENS } from './setting.mjs';
import { bearerRequest, introspection } from './workloads/lookups.mjs';
import { refresh } from './workloads/refresh.mjs';
import { clientCredentials } from './workloads/tokens.mjs';

const SIMPLE = [clientCredentials, introspection, bearerRequest, refresh];

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
  const { possible, why } = PINNING;
  if (possible) pinSelf(CORES.load);
  else say(`WARNING: ${why}. The figures say little.`);
  const pgbench = options.pgbench ? await findPgbench() : undefined;
  const where = machine();
  const database = await startDatabase();
  const servers = [];
  try {
    const setting = await makeSetting(database);
    const floor = await startFloor(database);
    servers.push(floor);
    const service = await startService(database);
    servers.push(service);
    const bench = { database, setting, floor, service, options, pgbench, say };
    const results = [];
    for (const workload of SIMPLE.filter(({ id }) => options.only.includes(id))) {
      say(`${workload.id} ${workload.name}`);
      results.push(await measure(workload, bench));
    }
    const notes = [
      `${new Date().toISOString()}: ${where}`,
      possible
        ? `server pinned to core ${CORES.server}, load and PostgreSQL to core ${CORES.load}`
        : `**${why}**`,
      `${CONNECTIONS} connections that stay open, ${options.rounds} rounds of ${options.seconds} s, interleaved; medians`,
      `PostgreSQL: ${await database.settings()}`,
      `${TOKENS} live tokens, all of them used; 20 clients; the service logs to a file at its default level`,
      pgbench ? `${pgbench}, on the core of the load` : '**pgbench is not installed and was left out**',
    ];
    const text = report({ results, notes });
    say(`\n${text}`);
    await write(options.out, text);
    say(`Written to ${options.out}.md`);
  } finally {
    for (const server of servers) await server.stop();
    await database.stop();
  }
}

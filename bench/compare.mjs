/**
 * Compares two builds, this one and another checkout of the service, over one database. Several processes of each build take
 * turns, a second at a time, because two processes of one build may differ by more than two builds do. After `npm run build` in
 * both checkouts:
 *
 *   node bench/compare.mjs ../other-checkout [--only W1,W2,W2b] [--rounds 10]
 */
import path from 'node:path';
import { parseArgs } from 'node:util';
import { startDatabase } from './database.mjs';
import { CORES, machine, PINNING, pinSelf } from './machine.mjs';
import { loadOnce, median } from './measure.mjs';
import { startService } from './servers.mjs';
import { makeSetting } from './setting.mjs';
import { TOKEN_WORKLOADS } from './workloads.mjs';

const WARM_UP_SECONDS = 4;
const SECONDS = 1;
const ORDER = ['this', 'other', 'other', 'this', 'this', 'other'];

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { only: { type: 'string' }, rounds: { type: 'string', default: '10' } },
});
if (positionals.length !== 1) throw new Error('Specify the folder of the other checkout.');
const other = path.resolve(positionals[0]);
// Before this process is pinned: the module of the other checkout detects the cores too.
const starts = { this: startService, other: (await import(`${other}/bench/servers.mjs`)).startService };
process.stdout.write(`${machine()}\n`);
if (PINNING.possible) pinSelf(CORES.load);
const database = await startDatabase();
const services = [];
try {
  const setting = await makeSetting(database);
  for (const build of ORDER) {
    const service = await starts[build](database);
    services.push({ ...service, build });
  }
  await setting.sign(services[0]);
  for (const workload of TOKEN_WORKLOADS.filter(({ id }) => values.only?.split(',').includes(id) ?? true)) {
    await compare(workload, setting);
  }
} finally {
  await Promise.all(services.map((service) => service.stop()));
  await database.stop();
}

async function compare(workload, setting) {
  const load = async (service, seconds) =>
    loadOnce(
      workload,
      service,
      await workload.prepare(setting, { database, side: 'ours', seconds }),
      seconds,
    );
  for (const service of services) await load(service, WARM_UP_SECONDS);
  const measured = new Map(services.map((service) => [service, []]));
  for (let round = 1; round <= Number(values.rounds); round++) {
    for (const service of round % 2 ? services : services.toReversed()) {
      measured.get(service).push(await load(service, SECONDS));
    }
  }
  for (const build of ['this', 'other']) {
    const of = services.filter((service) => service.build === build);
    const medians = (figure) => of.map((service) => median(measured.get(service).map(figure)));
    const rates = medians(({ rate }) => rate).map((rate) => Math.round(rate));
    const processor = medians((figures) => figures.processor * 1000).map((each) => each.toFixed(0));
    process.stdout.write(
      `${workload.id} ${build}: ${rates.join(', ')} requests/s; ${processor.join(', ')} µs each\n`,
    );
  }
}

import { startDatabase } from './database.mjs';
import { CORES, machine, PINNING, pinSelf } from './machine.mjs';
import { loadOnce, median } from './measure.mjs';
import { makeSetting } from './setting.mjs';
import { TOKEN_WORKLOADS } from './workloads.mjs';

const WARM_UP_SECONDS = 4;
const SECONDS = 1;

/**
 * Compares kinds of the service, or of servers beside it, over one database. Several processes of each take turns, a second at a time,
 * because two processes of one kind may differ by more than two kinds do. `starts`: a function for each kind that starts one over the
 * database; the first is the service. `sides`: whose tokens a kind knows, if not the service's. `then` goes on with the database once
 * they are stopped.
 */
export async function takeTurns({ starts, sides = {}, only, rounds, then }) {
  process.stdout.write(`${machine()}\n`);
  if (PINNING.possible) pinSelf(CORES.load);
  const database = await startDatabase();
  const services = [];
  const stop = () => Promise.all(services.splice(0).map((service) => service.stop()));
  try {
    const setting = await makeSetting(database);
    const kinds = Object.keys(starts);
    for (const kind of [...kinds, ...kinds.toReversed(), ...kinds]) {
      services.push({ ...(await starts[kind](database)), kind, side: sides[kind] ?? 'ours' });
    }
    await setting.sign(services[0]);
    for (const workload of TOKEN_WORKLOADS.filter(({ id }) => only?.split(',').includes(id) ?? true)) {
      await compare(workload, { setting, database, services, rounds });
    }
    await stop();
    await then?.(database);
  } finally {
    await stop();
    await database.stop();
  }
}

async function compare(workload, { setting, database, services, rounds }) {
  const load = async (service, seconds) =>
    loadOnce(
      workload,
      service,
      await workload.prepare(setting, { database, side: service.side, seconds }),
      seconds,
    );
  for (const service of services) await load(service, WARM_UP_SECONDS);
  const measured = new Map(services.map((service) => [service, []]));
  for (let round = 1; round <= Number(rounds); round++) {
    for (const service of round % 2 ? services : services.toReversed()) {
      measured.get(service).push(await load(service, SECONDS));
    }
  }
  for (const kind of new Set(services.map((service) => service.kind))) {
    const of = services.filter((service) => service.kind === kind);
    const medians = (figure) => of.map((service) => median(measured.get(service).map(figure)));
    const rates = medians(({ rate }) => rate).map((rate) => Math.round(rate));
    const processor = medians((figures) => figures.processor * 1000).map((each) => each.toFixed(0));
    process.stdout.write(
      `${workload.id} ${kind}: ${rates.join(', ')} requests/s; ${processor.join(', ')} µs each\n`,
    );
  }
}

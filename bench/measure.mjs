import { growth, sizes } from './growth.mjs';
import { busyMs, CORES, familyMs, forgetPeak, peakMemoryMb, processorMs } from './machine.mjs';
import { runLoad } from './load.mjs';
import { runPgbench } from './pgbench.mjs';

const WARM_UP_SECONDS = 4;
const WARM_UP_REQUESTS = 12_000;

/**
 * Measures one workload: after a warm-up of all sides, each round measures the floor, the service, the wall and pgbench in turn.
 * Returns medians over the rounds, the peak memory, and the growth of the database.
 */
export async function measure(workload, stand, bench) {
  return (await measureBeside(workload, { '': stand }, { ...bench, watchGrowth: true }))[''];
}

/**
 * The same over several named databases: in each round a side is measured over all of them in turn, in every other round in
 * reverse order, so that disturbances of the machine affect all alike. pgbench may run in only some of the rounds.
 */
export async function measureBeside(
  workload,
  stands,
  { options, pgbench, say, pgbenchEvery = 1, watchGrowth = false },
  warmUp = Math.min(WARM_UP_SECONDS, options.seconds),
) {
  const over = (side, serverOf) =>
    Object.entries(stands).map(([name, stand]) => ({
      name,
      side,
      stand,
      server: serverOf(stand),
      rounds: [],
    }));
  const groups = [
    over('floor', ({ floor }) => floor),
    over('ours', ({ service }) => service),
    ...(workload.wall ? [over('wall', ({ wall }) => wall)] : []),
    ...Object.values(stands)
      .flatMap(({ peers }) => Object.keys(peers))
      .filter((name, n, all) => workload.peers?.includes(name) && all.indexOf(name) === n)
      .map((name) => over(name, ({ peers }) => peers[name])),
    ...(pgbench && workload.pgbench ? [over('pgbench', () => undefined)] : []),
  ];
  const sides = groups.flat();
  const sources = new Map();
  const prepare = async (of, seconds) =>
    sources.set(
      of,
      await workload.prepare(of.stand.setting, {
        ...{ database: of.stand.database, server: of.server, side: of.side, seconds },
      }),
    );
  const loadAndWatch = async ({ stand, server, side, ...of }, seconds) => {
    const watched = watchGrowth && ['floor', 'ours'].includes(side);
    const before = watched ? await sizes(stand.database, side) : undefined;
    const begun = familyMs(stand.database.pid);
    const { requests, ...result } = await loadOnce(workload, server, of.source, seconds);
    result.database = (familyMs(stand.database.pid) - begun) / requests;
    if (!watched) return result;
    return { ...result, ...growth(before, await sizes(stand.database, side), requests) };
  };
  for (const of of sides.filter(({ server }) => server)) {
    forgetPeak(of.server.pid);
    await prepare(of, warmUp);
    // The first 10,000 calls of `new Buffer` in a process walk the stack (passport-http).
    let requests = 0;
    do requests += (await loadOnce(workload, of.server, sources.get(of), warmUp)).requests;
    while (requests < WARM_UP_REQUESTS && !options.quick);
  }
  for (let round = 1; round <= options.rounds; round++) {
    const measured = groups
      .flatMap((group) => (round % 2 ? group : group.toReversed()))
      .filter(({ server }) => server || round % pgbenchEvery === 0);
    for (const of of measured) {
      const { server, stand, rounds } = of;
      if (server && workload.renew) await prepare(of, options.seconds);
      rounds.push(
        server
          ? await loadAndWatch({ ...of, source: sources.get(of) }, options.seconds)
          : await runPgbench({ workload, ...stand, seconds: options.seconds }),
      );
    }
    say(`  round ${round}: ${measured.map(described).join(', ')}`);
  }
  const resultOf = (name) => {
    const of = (side) => sides.find((each) => each.name === name && each.side === side);
    const medianOf = ({ rounds, server }) => ({
      ...medians(rounds),
      rates: rounds.map(({ rate }) => rate),
      memory: peakMemoryMb(server.pid),
    });
    return {
      ...{
        id: workload.id,
        name: workload.name,
        must: workload.must,
        aim: workload.aim,
        bounds: workload.wall,
      },
      ...{ floor: medianOf(of('floor')), ours: medianOf(of('ours')) },
      ...(of('wall') ? { wall: medianOf(of('wall')) } : {}),
      peers: Object.fromEntries(
        sides
          .filter((each) => each.name === name && workload.peers?.includes(each.side))
          .map((each) => [each.side, medianOf(each)]),
      ),
      ...(of('pgbench') ? { pgbench: medians(of('pgbench').rounds) } : {}),
    };
  };
  return Object.fromEntries(Object.keys(stands).map((name) => [name, resultOf(name)]));
}

/** The same for servers that have just started, without a warm-up: each round measures the first requests after a start. */
export async function measureJustStarted(workload, stand, { options, say }) {
  const rounds = { floor: [], ours: [] };
  const memory = {};
  for (let round = 1; round <= options.rounds; round++) {
    await stand.restart();
    for (const [side, server] of [
      ['floor', stand.floor],
      ['ours', stand.service],
    ]) {
      const { database, setting } = stand;
      const source = await workload.prepare(setting, { database, side, seconds: options.seconds });
      rounds[side].push(await loadOnce(workload, server, source, options.seconds));
      memory[side] = peakMemoryMb(server.pid);
    }
    say(
      `  round ${round}: ${['floor', 'ours'].map((side) => described({ side, rounds: rounds[side] })).join(', ')}`,
    );
  }
  const of = (side) => ({ ...medians(rounds[side]), memory: memory[side] });
  return { floor: of('floor'), ours: of('ours') };
}

/** Loads one side once. */
export async function loadOnce(workload, server, connectionOf, seconds) {
  const before = usage(server);
  let result;
  try {
    result = await runLoad({ port: server.port, seconds, connectionOf });
  } catch (error) {
    throw new Error(`${workload.id}, ${server.name}: ${error.message}`);
  }
  const { requests, milliseconds, latencies, ownMs } = result;
  const after = usage(server);
  const at = (part) => latencies[Math.min(requests - 1, Math.floor(requests * part))];
  return {
    requests,
    rate: (requests * 1000) / milliseconds,
    processor: (after.server - before.server) / requests,
    ...{ p50: at(0.5), p99: at(0.99) },
    loadShare: ownMs / milliseconds,
    serverCore: (after.serverCore - before.serverCore) / milliseconds,
    /** The share of the server's core that other processes used: without them the server would have been faster. */
    others: Math.max(0, after.serverCore - before.serverCore - (after.server - before.server)) / milliseconds,
    loadCore: (after.loadCore - before.loadCore) / milliseconds,
  };
}

const usage = ({ pid }) => ({
  server: processorMs(pid),
  serverCore: busyMs(CORES.server),
  loadCore: busyMs(CORES.load),
});

export function median(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/**
 * The interval that contains the median with a confidence of 95 %, whatever the distribution: the two numbers with these ranks.
 * It needs six or more numbers.
 */
export function medianInterval(numbers) {
  const sorted = numbers.toSorted((a, b) => a - b);
  const rank = Math.max(1, Math.floor((sorted.length - 1.96 * Math.sqrt(sorted.length)) / 2));
  return [sorted[rank - 1], sorted.at(-rank)];
}

/** The median of each figure over the rounds. */
function medians(rounds) {
  return Object.fromEntries(
    Object.keys(rounds[0]).map((name) => [name, median(rounds.map((each) => each[name]))]),
  );
}

function described({ name, side, rounds }) {
  return `${name ? `${name} ` : ''}${side} ${Math.round(rounds.at(-1).rate)}/s`;
}

import { busyMs, CORES, forgetPeak, peakMemoryMb, processorMs } from './machine.mjs';
import { runLoad } from './load.mjs';
import { runPgbench } from './pgbench.mjs';

const WARM_UP_SECONDS = 4;

/**
 * One workload: after a warm-up of both sides so many rounds, in each the floor, the service and pgbench one after the
 * other. Medians of the rounds, and the most memory.
 */
export async function measure(workload, bench) {
  const { database, setting, options, pgbench, say } = bench;
  const sides = { floor: bench.floor, ours: bench.service };
  const rounds = { floor: [], ours: [], pgbench: [] };
  const sources = {};
  for (const [side, server] of Object.entries(sides)) {
    forgetPeak(server.pid);
    const warmUp = Math.min(WARM_UP_SECONDS, options.seconds);
    sources[side] = await workload.prepare(setting, database, warmUp);
    await loadOnce(workload, server, sources[side], warmUp);
  }
  for (let round = 1; round <= options.rounds; round++) {
    for (const [side, server] of Object.entries(sides)) {
      if (workload.renew) sources[side] = await workload.prepare(setting, database, options.seconds);
      rounds[side].push(await loadOnce(workload, server, sources[side], options.seconds));
    }
    if (pgbench && workload.pgbench) {
      rounds.pgbench.push(await runPgbench({ workload, database, setting, seconds: options.seconds }));
    }
    say(`  round ${round}: ${Object.entries(rounds).map(described).join(', ')}`);
  }
  return {
    ...{ id: workload.id, name: workload.name, must: workload.must, aim: workload.aim },
    floor: { ...medians(rounds.floor), memory: peakMemoryMb(bench.floor.pid) },
    ours: { ...medians(rounds.ours), memory: peakMemoryMb(bench.service.pid) },
    ...(rounds.pgbench.length > 0 ? { pgbench: medians(rounds.pgbench) } : {}),
  };
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
    rate: (requests * 1000) / milliseconds,
    processor: (after.server - before.server) / requests,
    ...{ p50: at(0.5), p99: at(0.99) },
    loadShare: ownMs / milliseconds,
    serverCore: (after.serverCore - before.serverCore) / milliseconds,
    /** What others took of the server's core: without it the server would have been quicker. */
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

/** The median of every figure of the rounds. */
function medians(rounds) {
  return Object.fromEntries(
    Object.keys(rounds[0]).map((name) => [name, median(rounds.map((each) => each[name]))]),
  );
}

function described([side, done]) {
  return done.length === 0 ? `no ${side}` : `${side} ${Math.round(done.at(-1).rate)}/s`;
}

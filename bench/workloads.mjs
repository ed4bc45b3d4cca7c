import { idleShare, startTimes } from './idle.mjs';
import { measure, measureBeside, measureJustStarted, median, medianInterval } from './measure.mjs';
import { measureBacklog } from './workloads/backlog.mjs';
import { codeExchange } from './workloads/codes.mjs';
import { measureDeliveries } from './workloads/deliveries.mjs';
import { fillTables } from './workloads/large-table.mjs';
import { bearerList, bearerRequest, introspection } from './workloads/lookups.mjs';
import { portalLinks } from './workloads/portal-links.mjs';
import { measurePurge } from './workloads/purge.mjs';
import { hotRefresh, refresh } from './workloads/refresh.mjs';
import { clientCredentials } from './workloads/tokens.mjs';

/** W1 to W3: the frequent requests with tokens, which `profile.mjs` and `compare.mjs` measure too. */
export const TOKEN_WORKLOADS = [
  clientCredentials,
  introspection,
  bearerRequest,
  bearerList,
  refresh,
  hotRefresh,
];
const SIMPLE = [...TOKEN_WORKLOADS, codeExchange, portalLinks];
// In per cent of a core.
const IDLE = { must: 1, aim: 0.3 };
// The 99th percentile, as a multiple of the floor’s.
const P99 = { of: ['W1', 'W2', 'W2b', 'W2c', 'W3'], must: 1, aim: 0.5 };
const OF_LARGE_TABLE = [clientCredentials, introspection, bearerRequest, refresh];
// How much of the throughput of the small table W6 must and should keep; for W2 and W2b, with tokens drawn at random.
const LARGE_TABLE = { must: 0.92, aim: 0.97 };
const AT_RANDOM = { of: ['W2', 'W2b'], must: 0.95, aim: 1 };
// After a checkpoint, the first change of each index page writes the whole page.
const LARGE_WARM_UP_SECONDS = 16;
// Each round is replaced with this many short ones: a second may differ from the one before by a third, so it takes many to
// detect a difference of one twentieth.
const SHORT_ROUNDS = 16;
const SHORT_ROUND_SECONDS = 1;

/**
 * Runs the requested workloads one after the other. `results` compare workloads with the floor, `bounds` are the other
 * requirements, and `facts` are sentences about the run.
 */
export async function runWorkloads(bench) {
  const { options, say, small } = bench;
  const asked = (id) => options.only.includes(id);
  const done = { results: [], bounds: [], facts: [] };
  if (asked('idle')) {
    say('idle');
    const ours = await idleShare(small.service, options.quick);
    done.bounds.push({ name: 'idle instance, % of a core', ours, ...IDLE, atMost: true });
    const { changes, without, beside } = await startTimes(small, options);
    done.facts.push(
      `a start takes ${without.ready} ms until it is ready and ${without.trusted} ms until it relies on its cache; ` +
        `with ${changes.toLocaleString('en-GB')} changes in the window ${beside.ready} ms and ${beside.trusted} ms, and ` +
        `${Math.round(beside.memory - without.memory)} MB more`,
    );
  }
  for (const workload of SIMPLE.filter(({ id }) => asked(id))) {
    say(`${workload.id} ${workload.name}`);
    const result = await measure(workload, small, bench);
    done.results.push(result);
    if (P99.of.includes(workload.id)) done.bounds.push(p99Bound(result));
  }
  if (asked('W8')) {
    say('W8 event deliveries');
    done.results.push(await measureDeliveries(small, bench));
  }
  if (asked('W9')) {
    say('W9 W1 while a backlog of deliveries drains');
    const backlog = await measureBacklog(small, bench);
    done.bounds.push({
      ...{ name: 'W9 W1 p99 while deliveries drain, × alone', ours: backlog.times, atMost: true },
      ...{ must: backlog.must, aim: backlog.aim },
    });
    done.facts.push(backlog.fact);
  }
  // The longest come last: if one fails, what was measured before it is still reported.
  for (const [id, run] of [
    ['W6', runLargeTable],
    ['W7', runPurge],
  ]) {
    if (!asked(id)) continue;
    await run(bench, done).catch((error) => {
      say(`${id} failed: ${error.message}`);
      done.facts.push(`${id} failed: ${error.message}`);
      process.exitCode = 1;
    });
  }
  return done;
}

const p99Bound = ({ id, floor, ours }) => ({
  ...{ name: `${id} p99, × the floor’s`, ours: ours.p99 / floor.p99, atMost: true },
  ...{ must: P99.must, aim: P99.aim },
});

/** Runs each workload over the large table and over the small one. */
async function runLargeTable(bench, { results, bounds, facts }) {
  const { small, options, say } = bench;
  const [warmUp, split, seconds] = options.quick
    ? [options.seconds, 1, options.seconds]
    : [LARGE_WARM_UP_SECONDS, SHORT_ROUNDS, SHORT_ROUND_SECONDS];
  const rounds = options.rounds * split;
  const large = await bench.addStand('large');
  bench.large = large;
  say('W6: filling the tables');
  const filled = await fillTables(large, bench);
  for (const stand of [small, large]) await stand.restart();
  const told = [];
  for (const workload of OF_LARGE_TABLE) {
    say(`W6 ${workload.id} ${workload.name}`);
    const both = await measureBeside(
      // The wall uses no tables.
      { ...workload, wall: undefined },
      { small, large },
      { ...bench, options: { ...options, rounds, seconds }, pgbenchEvery: split },
      warmUp,
    );
    for (const [table, result] of Object.entries(both)) {
      const [id, name] = [`W6 ${workload.id}`, `${workload.name}, ${table} table`];
      // With tokens drawn at random, the requirement relative to the floor is the same as for the workload alone.
      const asked = table === 'large' && AT_RANDOM.of.includes(workload.id);
      results.push({ ...result, id, name, ...(asked ? {} : { must: undefined, aim: undefined }) });
    }
    const kept = (side) => both.large[side].rates.map((rate, round) => rate / both.small[side].rates[round]);
    bounds.push({
      name: `W6 ${workload.id} of the small table`,
      ...{ ours: median(kept('ours')), floor: median(kept('floor')) },
      ...(AT_RANDOM.of.includes(workload.id) ? AT_RANDOM : LARGE_TABLE),
    });
    const range = (side) =>
      medianInterval(kept(side))
        .map((each) => each.toFixed(2))
        .join('–');
    if (rounds >= SHORT_ROUNDS) told.push(`${workload.id} ${range('ours')} (floor ${range('floor')})`);
  }
  for (const workload of [introspection, bearerRequest]) {
    say(`W6 ${workload.id} just started`);
    const result = await measureJustStarted(workload, large, bench);
    results.push({
      ...result,
      id: `W6 ${workload.id}`,
      name: `${workload.name}, just started`,
      must: undefined,
    });
  }
  facts.push(
    `W6: ${filled}; each side was loaded for ${warmUp} s before its rounds, ${rounds} of ${seconds} s; what is kept is the median, over the rounds, of the large table’s throughput divided by the small one’s in the same round`,
  );
  if (told.length > 0) facts.push(`W6: with a confidence of 95 % that median lies within ${told.join(', ')}`);
}

async function runPurge(bench, { bounds, facts }) {
  bench.say('W7 W1 during the purge');
  const purge = await measurePurge(bench.large ?? bench.small, bench);
  const told = (longest) =>
    longest
      ? `${longest.duration.toFixed(0)} ms (\`${longest.words.slice(0, 70)} …\`)`
      : `under ${purge.loggedFrom} ms`;
  // Where nothing was logged, the duration is below the logging threshold.
  const longest = Math.max(
    ...[purge.longestPurge, purge.longestOther].map((each) => each?.duration ?? purge.loggedFrom),
  );
  bounds.push(
    {
      name: 'W7 W1 keeps during the purge',
      ours: purge.keeps,
      must: purge.must,
      aim: purge.aim,
    },
    {
      ...{ name: 'W7 longest statement, ms', ours: longest, atMost: true, digits: 0 },
      ...{ must: purge.longestAllowed, aim: purge.longestAllowed },
    },
  );
  facts.push(
    `W7: ${purge.rows.toLocaleString('en-GB')} ended grants purged in ${purge.seconds.toFixed(1)} s by ${purge.by}; ` +
      `W1 ${Math.round(purge.before)} a second before, ${Math.round(purge.during)} during the purges, ${Math.round(purge.after)} after; ` +
      `it kept ${purge.each.map((kept) => kept.toFixed(2)).join(', ')}; longest statement of the purge ` +
      `${told(purge.longestPurge)}, of all others ${told(purge.longestOther)}; ${purge.tooLong} took more than ${purge.longestAllowed} ms`,
  );
}

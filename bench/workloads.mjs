import { measure, measureBeside, median, medianInterval } from './measure.mjs';
import { codeExchange } from './workloads/codes.mjs';
import { measureDeliveries } from './workloads/deliveries.mjs';
import { fillTables } from './workloads/large-table.mjs';
import { bearerRequest, introspection } from './workloads/lookups.mjs';
import { portalLinks } from './workloads/portal-links.mjs';
import { measurePurge } from './workloads/purge.mjs';
import { refresh } from './workloads/refresh.mjs';
import { clientCredentials } from './workloads/tokens.mjs';

const SIMPLE = [clientCredentials, introspection, bearerRequest, refresh, codeExchange, portalLinks];
const OF_LARGE_TABLE = [clientCredentials, introspection, bearerRequest, refresh];
// What W6 must and should keep of the speed in the small table.
const LARGE_TABLE = { must: 0.92, aim: 0.97 };
// After a checkpoint every page of an index is written whole at its first change.
const LARGE_WARM_UP_SECONDS = 16;
// So many short rounds in place of each: a single second may differ by a third from the one before it, so it takes many to
// tell a twentieth.
const SHORT_ROUNDS = 16;
const SHORT_ROUND_SECONDS = 1;

/**
 * Runs what was asked for, one after the other. `results` are workloads beside the floor, `bounds` what else is asked,
 * `facts` what there is to say about how it went.
 */
export async function runWorkloads(bench) {
  const { options, say, small } = bench;
  const asked = (id) => options.only.includes(id);
  const done = { results: [], bounds: [], facts: [] };
  for (const workload of SIMPLE.filter(({ id }) => asked(id))) {
    say(`${workload.id} ${workload.name}`);
    done.results.push(await measure(workload, small, bench));
  }
  if (asked('W8')) {
    say('W8 event deliveries');
    done.results.push(await measureDeliveries(small, bench));
  }
  if (asked('W6')) await runLargeTable(bench, done);
  if (asked('W7')) await runPurge(bench, done);
  return done;
}

/** Each workload in the large table beside the same in the small one. */
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
      workload,
      { small, large },
      { ...bench, options: { ...options, rounds, seconds }, pgbenchEvery: split },
      warmUp,
    );
    for (const [table, result] of Object.entries(both)) {
      const [id, name] = [`W6 ${workload.id}`, `${workload.name}, ${table} table`];
      // What it must reach beside the floor is asked where it is measured alone.
      results.push({ ...result, id, name, must: undefined, aim: undefined });
    }
    const kept = (side) => both.large[side].rates.map((rate, round) => rate / both.small[side].rates[round]);
    bounds.push({
      name: `W6 ${workload.id} of the small table`,
      ...{ ours: median(kept('ours')), floor: median(kept('floor')) },
      ...LARGE_TABLE,
    });
    const range = (side) =>
      medianInterval(kept(side))
        .map((each) => each.toFixed(2))
        .join('–');
    if (rounds >= SHORT_ROUNDS) told.push(`${workload.id} ${range('ours')} (floor ${range('floor')})`);
  }
  facts.push(
    `W6: ${filled}; each side was loaded for ${warmUp} s before its rounds, ${rounds} of ${seconds} s; what is kept is the median of what the large table reached beside the small one in the same round`,
  );
  if (told.length > 0) facts.push(`W6: with a certainty of 95 % that median lies within ${told.join(', ')}`);
}

async function runPurge(bench, { bounds, facts }) {
  bench.say('W7 W1 during the purge');
  const purge = await measurePurge(bench.large ?? bench.small, bench);
  const told = (longest) =>
    longest
      ? `${longest.duration.toFixed(0)} ms (\`${longest.words.slice(0, 70)} …\`)`
      : `under ${purge.loggedFrom} ms`;
  // Where nothing was logged it is less than what is logged.
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
    `W7: ${purge.rows.toLocaleString('en-GB')} expired tokens purged in ${purge.seconds.toFixed(1)} s by ${purge.by}; ` +
      `W1 ${Math.round(purge.before)} a second before, ${Math.round(purge.during)} meanwhile, ${Math.round(purge.after)} after; ` +
      `it kept ${purge.each.map((kept) => kept.toFixed(2)).join(', ')}; longest statement of the purge ` +
      `${told(purge.longestPurge)}, of all others ${told(purge.longestOther)}; ${purge.tooLong} took more than ${purge.longestAllowed} ms`,
  );
}

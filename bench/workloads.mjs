import { measure } from './measure.mjs';
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

/**
 * Runs what was asked for, one after the other. `results` are workloads beside the floor, `bounds` what else is asked,
 * `facts` what there is to say about how it went.
 */
export async function runWorkloads(bench) {
  const { options, say } = bench;
  const asked = (id) => options.only.includes(id);
  const done = { results: [], bounds: [], facts: [] };
  const runOne = async (workload) => {
    say(`${workload.id} ${workload.name}`);
    done.results.push(await measure(workload, bench));
  };
  // W6 is told beside the small table.
  const needed = ({ id }) => asked(id) || (asked('W6') && OF_LARGE_TABLE.some((each) => each.id === id));
  for (const workload of SIMPLE.filter(needed)) await runOne(workload);
  if (asked('W8')) {
    say('W8 event deliveries');
    done.results.push(await measureDeliveries(bench));
  }
  if (asked('W6')) await runLargeTable(bench, done, runOne);
  if (asked('W7')) await runPurge(bench, done);
  return done;
}

async function runLargeTable(bench, { results, bounds, facts }, runOne) {
  bench.say('W6: filling the tables');
  facts.push(`W6: ${await fillTables(bench)}`);
  for (const workload of OF_LARGE_TABLE) {
    // What it must reach beside the floor is asked of the small table.
    await runOne({
      ...workload,
      must: undefined,
      aim: undefined,
      id: `W6 ${workload.id}`,
      name: `${workload.name}, large table`,
    });
    const small = results.find(({ id }) => id === workload.id);
    const large = results.at(-1);
    const kept = (side) => large[side].rate / small[side].rate;
    bounds.push({
      name: `${large.id} of the small table`,
      ours: kept('ours'),
      floor: kept('floor'),
      ...LARGE_TABLE,
    });
  }
}

async function runPurge(bench, { bounds, facts }) {
  bench.say('W7 W1 during the purge');
  const purge = await measurePurge(bench);
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
      ours: purge.during / purge.before,
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
      `W1 ${Math.round(purge.before)} a second before, ${Math.round(purge.during)} meanwhile; longest statement of the purge ` +
      `${told(purge.longestPurge)}, of all others ${told(purge.longestOther)}; ${purge.tooLong} took more than ${purge.longestAllowed} ms`,
  );
}

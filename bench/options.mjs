import path from 'node:path';
import { parseArgs } from 'node:util';

/** What `--peers` measures beside. */
export const PEERS = ['oidc-provider', 'oauth2-server'];

/** Every workload, in the order in which they run. */
export const WORKLOADS = ['idle', 'W1', 'W2', 'W2b', 'W2c', 'W3', 'W3h', 'W4', 'W5', 'W6', 'W7', 'W8', 'W9'];

const FULL = {
  rounds: 3,
  seconds: 8,
  rows: 5_000_000,
  expired: 1_000_000,
  deliveries: 20_000,
  backlog: 100_000,
};
const QUICK = { rounds: 1, seconds: 2, rows: 50_000, expired: 20_000, deliveries: 1_000, backlog: 1_000 };

export const USAGE = `Usage: npm run bench -- [options]
  --only W1,W2   only these workloads, out of ${WORKLOADS.join(', ')}
  --rounds N     rounds of each workload (${FULL.rounds})
  --seconds N    how long each side is loaded in a round (${FULL.seconds}); W6 has more and shorter ones
  --rows N       live tokens of W6 (${FULL.rows})
  --expired N    ended grants of W7 (${FULL.expired})
  --deliveries N the full queue of W8 (${FULL.deliveries})
  --backlog N    deliveries that wait in W9 (${FULL.backlog})
  --quick        one short round over small tables: shows that everything works, not how fast it is
  --peers        beside ${PEERS.join(' and ')}, in W1 to W3
  --no-pgbench   without pgbench
  --out PATH     where the report goes, without .md and .svg (bench/results/<time>)`;

/** Parses the options of a run; throws an Error with a message for the user. */
export function readOptions(args) {
  const number = { type: 'string' };
  const { values } = parseArgs({
    args,
    options: {
      ...{
        only: number,
        rounds: number,
        seconds: number,
        rows: number,
        expired: number,
        deliveries: number,
        backlog: number,
      },
      ...{
        quick: { type: 'boolean' },
        peers: { type: 'boolean' },
        'no-pgbench': { type: 'boolean' },
        out: { type: 'string' },
      },
      help: { type: 'boolean' },
    },
  });
  const options = {
    ...(values.quick ? QUICK : FULL),
    quick: values.quick ?? false,
    help: values.help ?? false,
  };
  for (const name of Object.keys(FULL)) {
    if (values[name] === undefined) continue;
    options[name] = Number(values[name]);
    // Only seconds may be a fraction.
    const isRight =
      name === 'seconds' ? options.seconds > 0 : Number.isSafeInteger(options[name]) && options[name] > 0;
    if (!isRight) throw new Error(`--${name} must be a ${name === 'seconds' ? '' : 'whole '}number above 0.`);
  }
  const only = values.only?.split(',') ?? WORKLOADS;
  const unknown = only.find((id) => !WORKLOADS.includes(id));
  if (unknown !== undefined) throw new Error(`There is no workload ${unknown}.`);
  const time = new Date().toISOString().slice(0, 16).replaceAll(':', '');
  return {
    ...options,
    only: WORKLOADS.filter((id) => only.includes(id)),
    peers: values.peers ? PEERS : [],
    pgbench: !values['no-pgbench'],
    out: path.resolve(values.out ?? path.join(import.meta.dirname, 'results', time)),
  };
}

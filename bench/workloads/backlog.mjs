import { fillQueue } from '../delivery-queue.mjs';
import { loadOnce, median } from '../measure.mjs';
import { startReceiver } from '../receiver.mjs';
import { makeQueue } from './deliveries.mjs';
import { clientCredentials } from './tokens.mjs';

const WARM_UP_SECONDS = 4;
const MUST = 3;
const AIM = 2;

/**
 * W9: tokens by client credentials while a backlog of deliveries drains to twenty endpoints of one receiver, compared with the same load
 * right before. Each round has a backlog of its own, of which the rest is dropped.
 */
export async function measureBacklog(stand, { options, say }) {
  const { service, setting, database } = stand;
  const receiver = await startReceiver();
  try {
    await receiver.expect(Number.MAX_SAFE_INTEGER);
    const queue = await makeQueue(stand, receiver.port);
    const source = await clientCredentials.prepare(setting, { database, side: 'ours' });
    const load = (seconds) => loadOnce(clientCredentials, service, source, seconds);
    await load(Math.min(WARM_UP_SECONDS, options.seconds));
    const rounds = [];
    for (let round = 1; round <= options.rounds; round++) {
      const alone = await load(options.seconds);
      await fillQueue(database.url, queue, options.backlog);
      const during = await load(options.seconds);
      const left = await drop(database);
      rounds.push({ alone, during, delivered: (options.backlog - left) / options.seconds });
      say(`  round ${round}: ${described(rounds.at(-1))}`);
    }
    const of = (read) => median(rounds.map(read));
    return {
      ...{ times: of(({ alone, during }) => during.p99 / alone.p99), must: MUST, aim: AIM },
      fact:
        `W9: ${options.backlog.toLocaleString('en-GB')} deliveries waiting; medians of ${options.rounds} rounds: ` +
        described({
          ...{ alone: ofSide(rounds, 'alone'), during: ofSide(rounds, 'during') },
          delivered: of(({ delivered }) => delivered),
        }),
    };
  } finally {
    receiver.end();
  }
}

/**
 * Removes what still waits, so that nothing drains beside what is measured next; returns how much that was. What the service is just storing the
 * result of is left out: waiting for it could be a deadlock.
 */
async function drop({ query }) {
  const rows = await query(`
    DELETE FROM deliveries
    WHERE id IN (SELECT id FROM deliveries WHERE state = 'pending' FOR UPDATE SKIP LOCKED)
    RETURNING id`);
  return rows.length;
}

const ofSide = (rounds, side) => ({
  p50: median(rounds.map((round) => round[side].p50)),
  p99: median(rounds.map((round) => round[side].p99)),
  rate: median(rounds.map((round) => round[side].rate)),
});

const described = ({ alone, during, delivered }) =>
  `W1 alone ${figures(alone)}, while they drain ${figures(during)}, ${Math.round(delivered)} deliveries/s`;

const figures = ({ rate, p50, p99 }) =>
  `${Math.round(rate)}/s (p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms)`;

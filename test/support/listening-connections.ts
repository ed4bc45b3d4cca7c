import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { signalled } from './signalled.js';
import { until } from './until.js';

const CUT_EVERY_MS = 300;
const ANSWER_MS = 1_000;
const THOSE = "application_name = 'charging-data-service listener' AND datname = current_database()";

/** Runs `work` while the listening connections of all instances of a database are cut again and again. */
export async function whileCut(databaseUrl: string, work: () => Promise<void>): Promise<void> {
  const cutter = new Client({ connectionString: databaseUrl });
  await cutter.connect();
  let isOver = false;
  const cutting = (async () => {
    while (!isOver) {
      await cutter.query(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE ${THOSE}`);
      await pause(CUT_EVERY_MS);
    }
    await cutter.end();
  })();
  try {
    await work();
  } finally {
    isOver = true;
    await cutting;
  }
}

/**
 * Runs `work` while the listening connections stay open but nothing gets through, as in a network failure; `count` is the least
 * number of connections to wait for.
 */
export async function whileFrozen(
  databaseUrl: string,
  count: number,
  work: () => Promise<void>,
): Promise<void> {
  const onlooker = new Client({ connectionString: databaseUrl });
  await onlooker.connect();
  const frozen = new Set<number>();
  try {
    await until('they listen', async () => {
      const { rows } = await onlooker.query<{ pid: number }>(
        `SELECT pid FROM pg_stat_activity WHERE ${THOSE}`,
      );
      for (const { pid } of rows)
        if (!frozen.has(pid) && (await isFrozenAtRest(onlooker, pid))) frozen.add(pid);
      return frozen.size >= count;
    });
    await onlooker.end();
    await work();
  } finally {
    for (const pid of frozen) signalled(pid, 'SIGCONT');
  }
}

/** Freezes a connection that waits for its client; any other may hold a lock that the whole server needs, and goes on. */
async function isFrozenAtRest(onlooker: Client, pid: number): Promise<boolean> {
  if (!signalled(pid, 'SIGSTOP')) return false;
  const looking = onlooker.query<{ event: string }>(
    'SELECT wait_event AS event FROM pg_stat_activity WHERE pid = $1',
    [pid],
  );
  // Such a lock would keep this from being answered.
  const seen = await Promise.race([looking, pause(ANSWER_MS)]);
  if (seen && seen.rows[0]?.event === 'ClientRead') return true;
  signalled(pid, 'SIGCONT');
  await looking;
  return false;
}

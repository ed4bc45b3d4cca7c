import { setTimeout as pause } from 'node:timers/promises';
import { Client } from 'pg';
import { until } from './until.js';

const CUT_EVERY_MS = 300;
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
  let frozen: { pid: number }[] = [];
  await until('they listen', async () => {
    ({ rows: frozen } = await onlooker.query<{ pid: number }>(
      `SELECT pid FROM pg_stat_activity WHERE ${THOSE}`,
    ));
    return frozen.length >= count;
  });
  await onlooker.end();
  for (const { pid } of frozen) process.kill(pid, 'SIGSTOP');
  try {
    await work();
  } finally {
    for (const { pid } of frozen) process.kill(pid, 'SIGCONT');
  }
}

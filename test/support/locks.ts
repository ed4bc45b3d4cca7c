import { until } from './until.js';

/** Whoever can be asked about the database: a test's connection to it. */
interface Asked {
  query<T>(sql: string, params?: unknown[]): Promise<T[]>;
}

/** How many connections to this database wait for a lock that another holds. */
export async function waitingForLocks(database: Asked): Promise<number> {
  // Within a transaction of its own the answer would stay the first one.
  await database.query('SELECT pg_stat_clear_snapshot()');
  const [row] = await database.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row!.n;
}

/** Waits until so many connections to this database wait for a lock. */
export function untilWaitingForLocks(database: Asked, count: number): Promise<void> {
  return until(`${count} wait for a lock`, async () => (await waitingForLocks(database)) >= count);
}

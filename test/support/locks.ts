import { until } from './until.js';

/** A test's connection to the database, or anything else that runs queries. */
interface Asked {
  query<T>(sql: string, params?: unknown[]): Promise<T[]>;
}

/** How many connections to this database wait for a lock. */
export async function waitingForLocks(database: Asked): Promise<number> {
  // Within one transaction the statistics would not change after the first read.
  await database.query('SELECT pg_stat_clear_snapshot()');
  const [row] = await database.query<{ n: number }>(
    `SELECT count(*)::int AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
  );
  return row!.n;
}

/** Waits until that many connections to this database wait for a lock. */
export function untilWaitingForLocks(database: Asked, count: number): Promise<void> {
  return until(`${count} wait for a lock`, async () => (await waitingForLocks(database)) >= count);
}

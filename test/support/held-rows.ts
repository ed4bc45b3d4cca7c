import { Client } from 'pg';
import { untilWaitingForLocks } from './locks.js';
import type { TestDatabase } from './test-database.js';

/**
 * Starts all of this while another connection holds the rows of a statement, so that each waits, and ends that transaction once all
 * wait: they then meet in whatever order PostgreSQL chooses.
 */
export async function whileHeld<T>(
  { database }: { database: TestDatabase },
  [sql, params]: [sql: string, params?: unknown[]],
  work: (() => Promise<T>)[],
  end: 'ROLLBACK' | 'COMMIT' = 'ROLLBACK',
): Promise<T[]> {
  const holding = new Client({ connectionString: database.url });
  await holding.connect();
  try {
    await holding.query('BEGIN');
    await holding.query(sql, params);
    const started = work.map((each) => each());
    await untilWaitingForLocks(database, work.length);
    await holding.query(end);
    return await Promise.all(started);
  } finally {
    await holding.end();
  }
}

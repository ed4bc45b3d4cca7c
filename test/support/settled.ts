import { until } from './until.js';

/** Other files have transactions in the same PostgreSQL, before whose end an event has no certain place in the feed. */
export const settled = (query: <T>(sql: string) => Promise<T[]>): Promise<void> =>
  until('every transaction before the newest event has ended', async () => {
    const [row] = await query<{ yes: boolean }>(
      'SELECT NOT EXISTS (SELECT FROM events WHERE xid >= pg_snapshot_xmin(pg_current_snapshot())) AS yes',
    );
    return row!.yes;
  });

import type { Reads } from './test-database.js';

/** Writes what the record of consents refuses to change: no trigger runs for statements of this connection meanwhile. */
export async function withoutTriggers({ query }: Reads, write: () => Promise<unknown>): Promise<void> {
  await query('SET session_replication_role = replica');
  try {
    await write();
  } finally {
    await query('SET session_replication_role = origin');
  }
}

/** As if the user had agreed so many days earlier. */
export const ageConsents = (database: Reads, userId: string, days: number): Promise<void> =>
  withoutTriggers(database, async () => {
    await database.query(
      `UPDATE consents SET granted_at = granted_at - make_interval(days => $1), expires_at = expires_at - make_interval(days => $1)
        WHERE user_id = $2`,
      [days, userId],
    );
    await database.query(
      'UPDATE consent_versions SET recorded_at = recorded_at - make_interval(days => $1) WHERE user_id = $2',
      [days, userId],
    );
  });

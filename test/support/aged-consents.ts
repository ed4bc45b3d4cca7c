import type { Reads } from './test-database.js';

/** As if the user had agreed so many days earlier. No trigger runs: the record of consents refuses changes. */
export async function ageConsents({ query }: Reads, userId: string, days: number): Promise<void> {
  await query('SET session_replication_role = replica');
  await query(
    `UPDATE consents SET granted_at = granted_at - make_interval(days => $1), expires_at = expires_at - make_interval(days => $1)
      WHERE user_id = $2`,
    [days, userId],
  );
  await query(
    'UPDATE consent_versions SET recorded_at = recorded_at - make_interval(days => $1) WHERE user_id = $2',
    [days, userId],
  );
  await query('SET session_replication_role = origin');
}

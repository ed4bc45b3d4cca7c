import type { Reads } from './test-database.js';
import { withoutTriggers } from './without-triggers.js';

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

import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

/**
 * Logos that nothing shows any more. Assigning a logo refreshes it in the same transaction, so that it is not removed in between.
 */
export const BRAND_PURGE: PurgeTask[] = [
  {
    table: 'logos',
    by: 'stored_at',
    before: "now() - interval '1 day'",
    condition: `NOT EXISTS (SELECT 1 FROM brand b WHERE b.logo_id = t.id)
      AND NOT EXISTS (SELECT 1 FROM clients c WHERE c.logo_id = t.id)`,
  },
];

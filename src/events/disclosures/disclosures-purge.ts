import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';
import { MONTHS_KEPT } from './disclosure.js';

export const DISCLOSURES_PURGE: PurgeTask[] = [
  {
    table: 'disclosure_days',
    by: 'day',
    before: `((now() AT TIME ZONE 'UTC')::date - interval '${MONTHS_KEPT} months')::date`,
  },
  { table: 'disclosure_batches', by: 'received_at', before: "now() - interval '72 hours'" },
];

import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const CONSENTS_PURGE: PurgeTask[] = [
  { table: 'consent_notices', by: 'expires_at', before: RETENTION },
  // Five years after the end, a period fixed in the function: the service itself must not delete from the record.
  { table: 'consent_versions', by: 'recorded_at', function: 'purge_consent_versions' },
];

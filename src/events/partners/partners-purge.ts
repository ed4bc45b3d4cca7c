import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const PARTNERS_PURGE: PurgeTask[] = [
  { table: 'organisation_invitations', by: 'expires_at' },
  { table: 'client_requests', by: 'occurred_at', before: RETENTION },
];

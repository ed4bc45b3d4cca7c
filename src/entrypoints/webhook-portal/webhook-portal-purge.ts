import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const WEBHOOK_PORTAL_PURGE: PurgeTask[] = [
  { table: 'portal_links', by: 'expires_at' },
  { table: 'portal_sessions', by: 'expires_at' },
  { table: 'portal_member_sessions', by: 'expires_at' },
];

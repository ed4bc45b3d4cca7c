import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const APPROVALS_PURGE: PurgeTask[] = [{ table: 'approvals', by: 'expires_at', before: RETENTION }];

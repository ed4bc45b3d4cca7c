import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const PUSHED_REQUESTS_PURGE: PurgeTask[] = [{ table: 'pushed_requests', by: 'expires_at' }];

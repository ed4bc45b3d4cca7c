import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const RATE_LIMITS_PURGE: PurgeTask[] = [{ table: 'rate_limit_periods', by: 'ends_at' }];

import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const ACTIVITY_PURGE: PurgeTask[] = [{ table: 'activity_hours', by: 'hour', before: RETENTION }];

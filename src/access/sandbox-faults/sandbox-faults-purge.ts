import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const SANDBOX_FAULTS_PURGE: PurgeTask[] = [{ table: 'sandbox_faults', by: 'expires_at' }];

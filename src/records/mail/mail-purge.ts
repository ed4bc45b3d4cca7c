import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const MAIL_PURGE: PurgeTask[] = [{ table: 'mails', by: 'finished_at', before: RETENTION }];

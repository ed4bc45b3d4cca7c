import { RETENTION, type PurgeTask } from '../database/purge/purge-tasks.js';

export const CLIENTS_PURGE: PurgeTask[] = [
  // Expired secrets are kept for a while, because they get a different error than wrong ones.
  { table: 'client_secrets', by: 'expires_at', before: RETENTION },
];

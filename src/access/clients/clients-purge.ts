import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const CLIENTS_PURGE: PurgeTask[] = [
  // Noted until no instance would accept them any more.
  { table: 'used_proofs', by: 'expires_at' },
  { table: 'client_key_uses', by: 'last_used_at', before: RETENTION },
];

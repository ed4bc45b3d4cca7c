import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const IDENTITY_PROVIDERS_PURGE: PurgeTask[] = [
  { table: 'provider_sign_ins', by: 'expires_at' },
  { table: 'logout_tokens', by: 'expires_at' },
];

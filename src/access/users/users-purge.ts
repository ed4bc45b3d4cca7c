import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

export const USERS_PURGE: PurgeTask[] = [
  'sessions',
  'password_links',
  'webauthn_challenges',
  'pending_sign_ins',
  'email_links',
  'data_exports',
].map((table) => ({ table, by: 'expires_at' }));

import type { Reads } from './test-database.js';

/** Writes what the record of consents refuses to change: no trigger runs for statements of this connection meanwhile. */
export async function withoutTriggers({ query }: Reads, write: () => Promise<unknown>): Promise<void> {
  await query('SET session_replication_role = replica');
  try {
    await write();
  } finally {
    await query('SET session_replication_role = origin');
  }
}

import type { DataSource } from 'typeorm';
import { conflict } from '#platform/http/problems/problem.js';
import { requireTransaction } from '#platform/database/queries/transaction-around.js';

// Any number that no other advisory lock of the service has.
const APPLYING = 1_702_260_343;

/** Lets one file be applied at a time, until the transaction ends; throws a 409 problem while another one is. */
export async function holdApplyLock(dataSource: DataSource): Promise<void> {
  requireTransaction('A lock that is to last');
  const [row]: { held: boolean }[] = await dataSource.query(
    `SELECT pg_try_advisory_xact_lock(${APPLYING}) AS held`,
  );
  if (!row!.held) throw conflict('Another file is being applied. Try again when it is done.');
}

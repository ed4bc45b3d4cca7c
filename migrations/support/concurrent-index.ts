import type { QueryRunner } from 'typeorm';

/** An index that is built while the table is read and written. */
export interface ConcurrentIndex {
  name: string;
  /** Table, method and columns, with a condition where it has one: `sessions (user_id, id) WHERE …`. */
  on: string;
  unique?: boolean;
}

/**
 * Builds an index without blocking anybody, for migrations with `transaction = false`. Safe to run again: an invalid index, left
 * behind by a killed build, is rebuilt. An existing valid index is left alone, so give a changed one a new name.
 */
export async function createIndexConcurrently(
  queryRunner: QueryRunner,
  { name, on, unique = false }: ConcurrentIndex,
): Promise<void> {
  const [found]: { valid: boolean }[] = await queryRunner.query(
    'SELECT indisvalid AS valid FROM pg_index WHERE indexrelid = to_regclass($1)',
    [name],
  );
  if (found?.valid) return;
  if (found) await dropIndexConcurrently(queryRunner, name);
  await withoutLockTimeout(
    queryRunner,
    `CREATE ${unique ? 'UNIQUE ' : ''}INDEX CONCURRENTLY ${name} ON ${on}`,
  );
}

/** Drops an index without blocking anybody, for migrations with `transaction = false`. Safe to run again. */
export const dropIndexConcurrently = (queryRunner: QueryRunner, name: string): Promise<void> =>
  withoutLockTimeout(queryRunner, `DROP INDEX CONCURRENTLY IF EXISTS ${name}`);

/** These statements wait for older transactions, however long those take; nobody waits for these statements in the meantime. */
async function withoutLockTimeout(queryRunner: QueryRunner, statement: string): Promise<void> {
  const [{ before }] = (await queryRunner.query(
    "SELECT current_setting('lock_timeout') AS before, set_config('lock_timeout', '0', false)",
  )) as [{ before: string }];
  try {
    await queryRunner.query(statement);
  } finally {
    await queryRunner.query("SELECT set_config('lock_timeout', $1, false)", [before]);
  }
}

import { setTimeout as rest } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';

const BATCH = 1000;

/** The rows of a table to change. */
export interface Backfill {
  table: string;
  /** The only column of the primary key. */
  key: string;
  /** The assignments of the `UPDATE`. */
  set: string;
  /** Which rows still need the change. It must be false for a changed row, so that after a kill finished work is not repeated. */
  where: string;
  size?: number;
}

/**
 * Changes rows in small transactions in the order of the primary key, for migrations with `transaction = false`. Each row is
 * locked only briefly, and after each batch it pauses for as long as the batch took. The next round finds rows that were inserted
 * behind the current position; a round without any ends the work. Returns how many rows it changed.
 */
export async function backfillInBatches(queryRunner: QueryRunner, backfill: Backfill): Promise<number> {
  let total = 0;
  for (;;) {
    const changed = await oneRound(queryRunner, backfill);
    if (changed === 0) return total;
    total += changed;
  }
}

async function oneRound(
  queryRunner: QueryRunner,
  { table, key, set, where, size = BATCH }: Backfill,
): Promise<number> {
  let changed = 0;
  for (let last: unknown; ;) {
    const begun = performance.now();
    const [batch]: { count: number; last: unknown }[] = await queryRunner.query(
      `WITH batch AS MATERIALIZED (
         SELECT ${key} AS key FROM ${table}
          WHERE (${where}) ${last === undefined ? '' : `AND ${key} > $1`} ORDER BY ${key} LIMIT ${size} FOR NO KEY UPDATE
       ), done AS (
         UPDATE ${table} SET ${set} WHERE ${key} IN (SELECT key FROM batch)
       )
       SELECT (SELECT count(*) FROM batch)::int AS count, (SELECT key FROM batch ORDER BY key DESC LIMIT 1) AS last`,
      last === undefined ? [] : [last],
    );
    changed += batch!.count;
    if (batch!.count < size) return changed;
    last = batch!.last;
    await rest(performance.now() - begun);
  }
}

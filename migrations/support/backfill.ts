import { setTimeout as rest } from 'node:timers/promises';
import type { QueryRunner } from 'typeorm';

const BATCH = 1000;

/** Rows of a table that are to be changed. */
export interface Backfill {
  table: string;
  /** The one column of the primary key. */
  key: string;
  /** What `UPDATE` sets. */
  set: string;
  /** Which rows still need it: false for a row once it is done, so that what was done before a kill is not done again. */
  where: string;
  size?: number;
}

/**
 * Changes rows in small transactions, the primary key upwards, for migrations with `transaction = false`: each row is locked for
 * a moment, and as much time is left to others as is taken. Rows that come in behind it are found by the next round; it ends
 * with a round that finds none. How many rows it changed.
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

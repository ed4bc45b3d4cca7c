import { setTimeout as pause } from 'node:timers/promises';

/** A position among rows: the number of a transaction, and the id of a row. */
export interface CommitPlace {
  xid: string;
  id: string;
}

/**
 * In SQL: every transaction of this database with a lower number (`xid8`) has ended, and the statement sees what it wrote. One of another
 * database, after which 64 have begun, does not count: whoever holds a lock on a relation there (`pg_locks`, which every role may read)
 * cannot write here. To be asked once in a statement; on a standby, whose snapshots do not list transactions, all count.
 */
export const SETTLED_BELOW = `(
  SELECT CASE WHEN running.count = 0 THEN pg_snapshot_xmin(s) ELSE coalesce(running.first, pg_snapshot_xmax(s)) END
    FROM pg_current_snapshot() AS s, LATERAL (
      SELECT count(*), min(x) FILTER (
               WHERE pg_snapshot_xmax(s)::text::bigint - x::text::bigint < 64 OR x::xid <> ALL (ARRAY(
                 SELECT unnest(array_agg(transactionid) FILTER (WHERE locktype = 'transactionid' AND mode = 'ExclusiveLock'))
                   FROM pg_locks GROUP BY virtualtransaction
                 HAVING bool_or(locktype = 'relation' AND database NOT IN (
                          0, (SELECT oid FROM pg_database WHERE datname = current_database())))))) AS first
        FROM pg_snapshot_xip(s) AS x) AS running)`;

const READ_AT_ONCE = 500;
const LOOK_EVERY_MS = 1_000;
const CURSOR = /^(\d{1,19})\.(\w{1,40})$/;

/** The position that a cursor stands for; undefined for other text. */
export function placeOf(cursor: string): CommitPlace | undefined {
  const [, xid, id] = CURSOR.exec(cursor) ?? [];
  return xid === undefined || id === undefined ? undefined : { xid, id };
}

/**
 * Rows in the order of their commits from a position on, each with the cursor that continues after it; with `follow` it never
 * ends. `after` reads up to `limit` rows whose transactions, and all earlier ones, have ended.
 */
export async function* inOrderOfCommits<T>(
  from: CommitPlace,
  follow: boolean,
  after: (place: CommitPlace, limit: number) => Promise<{ place: CommitPlace; row: T }[]>,
): AsyncGenerator<{ row: T; cursor: string }> {
  let place = from;
  for (;;) {
    const rows = await after(place, READ_AT_ONCE);
    for (const { place: at, row } of rows) {
      yield { row, cursor: `${at.xid}.${at.id}` };
      place = at;
    }
    if (rows.length === READ_AT_ONCE) continue;
    if (!follow) return;
    await pause(LOOK_EVERY_MS);
  }
}

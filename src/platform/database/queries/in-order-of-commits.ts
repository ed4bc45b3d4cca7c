import { setTimeout as pause } from 'node:timers/promises';

/** A position among rows: the number of a transaction, and the id of a row. */
export interface CommitPlace {
  xid: string;
  id: string;
}

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

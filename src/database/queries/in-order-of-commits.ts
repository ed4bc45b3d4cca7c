import { setTimeout as pause } from 'node:timers/promises';

/** A place among rows: the number of their transaction, and the id of one. */
export interface CommitPlace {
  xid: string;
  id: string;
}

const READ_AT_ONCE = 500;
const LOOK_EVERY_MS = 1_000;
const CURSOR = /^(\d{1,19})\.(\w{1,40})$/;

/** The place of a cursor; undefined for other text. */
export function placeOf(cursor: string): CommitPlace | undefined {
  const [, xid, id] = CURSOR.exec(cursor) ?? [];
  return xid === undefined || id === undefined ? undefined : { xid, id };
}

/**
 * Rows in the order of their commits from a place on, each with the cursor that continues after it; with `follow` it goes on for good.
 * `after` reads up to `limit` of those whose transactions have all ended.
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

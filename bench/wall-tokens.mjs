import { createHmac, createSecretKey, randomFillSync, timingSafeEqual } from 'node:crypto';

const KEY = createSecretKey(Buffer.alloc(32, 'w'));
// User, client, issue time and expiry, four bytes each; then sixteen random bytes.
const RECORD_BYTES = 32;
const NOBODY = 0xffffffff;

const tagOf = (record) => createHmac('sha256', KEY).update(record).digest();

/** A token of the wall: the number of its client and, for a user's token, of its user, with a MAC. */
export function newWallToken({ client, user = NOBODY }) {
  const record = randomFillSync(Buffer.alloc(RECORD_BYTES), 16);
  const now = Math.floor(Date.now() / 1000);
  record.writeUInt32BE(user, 0);
  record.writeUInt32BE(client, 4);
  record.writeUInt32BE(now, 8);
  record.writeUInt32BE(now + 36_000, 12);
  return Buffer.concat([record, tagOf(record)]).toString('base64url');
}

/** The content of a live token; undefined for any other text. */
export function readWallToken(text) {
  const bytes = Buffer.from(text, 'base64url');
  const record = bytes.subarray(0, RECORD_BYTES);
  if (bytes.length !== 2 * RECORD_BYTES) return undefined;
  if (!timingSafeEqual(bytes.subarray(RECORD_BYTES), tagOf(record))) return undefined;
  const [user, client, issued, expires] = [0, 4, 8, 12].map((at) => record.readUInt32BE(at));
  if (expires * 1000 <= Date.now()) return undefined;
  return { user: user === NOBODY ? undefined : user, client, issued, expires };
}

import { webcrypto } from 'node:crypto';
import { encodeTime, monotonicFactory } from 'ulid';

const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';
const VALUES = new Map([...ALPHABET].map((letter, value) => [letter, value]));
const LENGTH = 26;
const CODES = Buffer.from(ALPHABET, 'latin1');
// Reused for each ULID: one string from bytes is cheaper than concatenating 26 strings.
const letters = Buffer.alloc(LENGTH);

/** The number of bytes of a ULID. */
export const ULID_BYTES = 16;

/** Writes the ULID of a resource id (after its four-letter prefix) as 16 bytes. Throws if it is not one. */
export function writeUlid(id: string, into: Buffer, offset: number): void {
  let bits = 0;
  let rest = 0;
  let at = offset;
  const from = id.length - LENGTH;
  for (let n = 0; n < LENGTH; n++) {
    const value = VALUES.get(id[from + n]!);
    // 26 letters of 5 bits are two bits more than a ULID has, so the first letter has only three.
    if (value === undefined || (n === 0 && value > 7)) throw new Error('not the id of a resource');
    rest = (rest << 5) | value;
    bits += n === 0 ? 3 : 5;
    if (bits >= 8) {
      bits -= 8;
      into[at++] = rest >> bits;
      rest &= (1 << bits) - 1;
    }
  }
}

/** The 26 letters of the ULID at the offset. */
export function readUlid(from: Buffer, offset: number): string {
  let at = 0;
  let bits = 2;
  let rest = 0;
  for (let n = 0; n < ULID_BYTES; n++) {
    rest = (rest << 8) | from[offset + n]!;
    bits += 8;
    while (bits >= 5) {
      bits -= 5;
      letters[at++] = CODES[rest >> bits]!;
      rest &= (1 << bits) - 1;
    }
  }
  return letters.toString('latin1');
}

// Read from the system in large blocks: a call per character would cost more than the rest of a small request.
const drawn = new Uint32Array(1024);
let used = drawn.length;

function randomFraction(): number {
  if (used === drawn.length) {
    webcrypto.getRandomValues(drawn);
    used = 0;
  }
  return drawn[used++]! / 2 ** 32;
}

/** Corrections of the clock by less than this do not disturb the order of ids. */
const SMALL_CORRECTION_MS = 1000;
let increasing = monotonicFactory(randomFraction);
let latest = 0;

/**
 * A new ULID, increasing within this process until its clock is set back by more than a second: lists and periods find rows by the
 * time in their ids, which must not stay ahead then.
 */
export function newUlid(): string {
  const now = Date.now();
  if (now < latest - SMALL_CORRECTION_MS) {
    increasing = monotonicFactory(randomFraction);
    latest = now;
  } else if (now > latest) latest = now;
  return increasing(now);
}

const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}';

/**
 * The four-letter prefixes of resource ids (contract §1). In addition: `grnt` is a grant, `sess` a session, `rcvr` a recovery,
 * `cont` a contact of a client, `form` a form whose result is created once, `pkey` a passkey.
 */
export type IdPrefix =
  | 'user'
  | 'clnt'
  | 'grnt'
  | 'audt'
  | 'notf'
  | 'sess'
  | 'evnt'
  | 'endp'
  | 'dlvr'
  | 'mail'
  | 'rcvr'
  | 'cont'
  | 'form'
  | 'pkey'
  | 'appr'
  | 'ruri'
  | 'mbiv';

/** A new id: the prefix and a ULID. */
export const newId = (prefix: IdPrefix): string => `${prefix}${newUlid()}`;

/** The form of an id with this prefix, as a regular expression. */
export const idPattern = (prefix: IdPrefix): string => `^${prefix}${ULID}$`;

/** Whether the text has the form of an id with this prefix. */
export const isId = (prefix: IdPrefix, text: string): boolean => new RegExp(idPattern(prefix)).test(text);

export const CLIENT_ID_PATTERN = new RegExp(`^clnt${ULID}$`);
export const USER_ID_PATTERN = new RegExp(`^user${ULID}$`);

/** The smallest id of this kind that could have been created at a time: ids sort by time. */
export const firstIdAt = (prefix: IdPrefix, time: Date): string =>
  `${prefix}${encodeTime(Math.max(0, time.getTime()), 10)}${'0'.repeat(16)}`;

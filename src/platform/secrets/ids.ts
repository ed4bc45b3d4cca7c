import { webcrypto } from 'node:crypto';
import { encodeTime, monotonicFactory } from 'ulid';

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

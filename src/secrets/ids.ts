import { encodeTime, monotonicFactory } from 'ulid';

const nextUlid = monotonicFactory();
const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}';

/** The four-letter prefixes of resource ids (contract §1); beside its own, `grnt` is a grant, `sess` a session, `rcvr` a recovery. */
export type IdPrefix =
  'user' | 'clnt' | 'grnt' | 'audt' | 'notf' | 'sess' | 'evnt' | 'endp' | 'dlvr' | 'rcvr';

/** A new id: the prefix and a ULID, in rising order within this process. */
export const newId = (prefix: IdPrefix): string => `${prefix}${nextUlid()}`;

/** Whether the text has the form of an id with this prefix. */
export const isId = (prefix: IdPrefix, text: string): boolean => new RegExp(`^${prefix}${ULID}$`).test(text);

export const CLIENT_ID_PATTERN = new RegExp(`^clnt${ULID}$`);
export const USER_ID_PATTERN = new RegExp(`^user${ULID}$`);

/** The least id of this kind that could have been made at a time: ids compare as their times do. */
export const firstIdAt = (prefix: IdPrefix, time: Date): string =>
  `${prefix}${encodeTime(Math.max(0, time.getTime()), 10)}${'0'.repeat(16)}`;

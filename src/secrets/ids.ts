import { monotonicFactory } from 'ulid';

const nextUlid = monotonicFactory();
const ULID = '[0-7][0-9A-HJKMNP-TV-Z]{25}';

/** The four-letter prefixes of resource ids (contract §1); `grnt` is a grant, as the admin API lists them, `sess` a session. */
export type IdPrefix = 'user' | 'clnt' | 'grnt' | 'audt' | 'notf' | 'sess';

/** A new id: the prefix and a ULID, in rising order within this process. */
export const newId = (prefix: IdPrefix): string => `${prefix}${nextUlid()}`;

/** Whether the text has the form of an id with this prefix. */
export const isId = (prefix: IdPrefix, text: string): boolean => new RegExp(`^${prefix}${ULID}$`).test(text);

export const CLIENT_ID_PATTERN = new RegExp(`^clnt${ULID}$`);
export const USER_ID_PATTERN = new RegExp(`^user${ULID}$`);

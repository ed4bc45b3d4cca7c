import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { OPTIONAL_MAIL_KINDS } from './mail.entity.js';

const PREFIX = 'cds_un_';
const KEY = /^cds_un_([\w-]{1,120})\.([\w-]{43})$/;

const KINDS = [...OPTIONAL_MAIL_KINDS, 'client_contact'] as const;

/** What a key switches off: one kind of mail to a user, or all mail to a contact of a client. */
export interface Unsubscription {
  kind: (typeof KINDS)[number];
  /** Of the user or the contact. */
  id: string;
}

/**
 * A key that switches off mails of one kind to one address. It is signed and not stored, so it works for as long as the user or the
 * contact has this address; and it can do nothing else, because anyone who reads the mail holds it.
 */
export function unsubscribeKey(encryptionKey: Buffer, of: Unsubscription, address: string): string {
  const claim = Buffer.from(`${of.kind} ${of.id}`).toString('base64url');
  return `${PREFIX}${claim}.${signatureOf(encryptionKey, of, address).toString('base64url')}`;
}

/** What the key claims; undefined if it is malformed. */
export function claimOf(key: string): Unsubscription | undefined {
  const [, claim] = KEY.exec(key) ?? [];
  const [kind, id] = Buffer.from(claim ?? '', 'base64url')
    .toString()
    .split(' ');
  const known = KINDS.find((each) => each === kind);
  return known && id ? { kind: known, id } : undefined;
}

/** Whether the key was made for what it claims and this address, with any of the service's keys. */
export function isSignedFor(
  encryptionKeys: readonly Buffer[],
  key: string,
  of: Unsubscription,
  address: string,
): boolean {
  const given = Buffer.from(KEY.exec(key)?.[2] ?? '', 'base64url');
  return encryptionKeys.some((each) => {
    const right = signatureOf(each, of, address);
    return given.length === right.length && timingSafeEqual(given, right);
  });
}

function signatureOf(encryptionKey: Buffer, { kind, id }: Unsubscription, address: string): Buffer {
  const signingKey = Buffer.from(hkdfSync('sha256', encryptionKey, '', 'unsubscribing', 32));
  return createHmac('sha256', signingKey).update(`${kind} ${id} ${address}`).digest();
}

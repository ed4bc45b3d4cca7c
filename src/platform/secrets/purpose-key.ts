import { hkdfSync } from 'node:crypto';

/**
 * The purposes for which keys are derived from `ENCRYPTION_KEY`. Never change a label: existing sealed or signed values would
 * become invalid.
 */
export const PURPOSES = {
  'answer of a form': 'seals',
  'authenticator app': 'seals',
  'encryption canary': 'seals',
  mail: 'seals',
  'position in the feed of events': 'seals',
  'provider id token': 'seals',
  'provider sign-in': 'seals',
  'return through mail': 'seals',
  'receipt key': 'seals',
  'shown once': 'seals',
  'token key': 'seals',
  'webhook endpoint headers': 'seals',
  'webhook endpoint secret': 'seals',
  'webhook receiver client secret': 'seals',
  'webhook signing key': 'seals',
  'csrf tokens': 'signs',
  'dpop nonces': 'signs',
  'form ids': 'signs',
  'known browsers': 'signs',
  unsubscribing: 'signs',
  'key id': 'names',
} as const;

type Purposes = typeof PURPOSES;

/** The purposes with this use. */
export type PurposeThat<Use extends Purposes[keyof Purposes]> = {
  [Each in keyof Purposes]: Purposes[Each] extends Use ? Each : never;
}[keyof Purposes];

/** The key of 32 bytes for one purpose. */
export const purposeKey = (purpose: keyof Purposes, encryptionKey: Buffer): Buffer =>
  Buffer.from(hkdfSync('sha256', encryptionKey, '', purpose, 32));

/** Identifies a key without revealing it: eight hexadecimal digits derived from it. */
export const keyIdOf = (key: Buffer): string => purposeKey('key id', key).toString('hex', 0, 4);

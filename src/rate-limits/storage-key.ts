import { createHash } from 'node:crypto';

const LONGEST = 100;
// No `#`, which marks the digests, and no braces, which mean something in a Redis key.
const PLAIN = /^[\w:./@|+-]+$/;
const LONGEST_NAMESPACE = 32;

/** The key as a store keeps it: as it is when short and plain, else its SHA-256; different keys stay different. */
export function storageKey(key: string): string {
  if (key.length <= LONGEST && PLAIN.test(key)) return key;
  // UTF-8 would turn every unpaired surrogate into the same character, and two keys into one.
  return `#${createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')}`;
}

/** The part of the key before its first `:`; empty when there is none, or one too long to be meant as such. */
export function namespaceOf(key: string): string {
  const end = key.indexOf(':');
  return end > 0 && end <= LONGEST_NAMESPACE ? key.slice(0, end) : '';
}

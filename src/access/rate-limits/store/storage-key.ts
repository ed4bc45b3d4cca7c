import { createHash } from 'node:crypto';

const LONGEST = 100;
// No `#`, which marks digests, and no braces, which have a meaning in Redis keys.
const PLAIN = /^[\w:./@|+-]+$/;
const LONGEST_NAMESPACE = 32;

/** The key as stored: unchanged if short and plain, otherwise its SHA-256. Different keys stay different. */
export function storageKey(key: string): string {
  if (key.length <= LONGEST && PLAIN.test(key)) return key;
  // UTF-8 would encode all unpaired surrogates alike, and so merge different keys.
  return `#${createHash('sha256').update(Buffer.from(key, 'utf16le')).digest('base64url')}`;
}

/** The part of the key before its first `:`; empty if it is missing or too long for a namespace. */
export function namespaceOf(key: string): string {
  const end = key.indexOf(':');
  return end > 0 && end <= LONGEST_NAMESPACE ? key.slice(0, end) : '';
}

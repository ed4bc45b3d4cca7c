import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Encrypts with AES-256-GCM and a 32-byte key: nonce (12 bytes), ciphertext, tag (16 bytes). */
export function seal(key: Buffer, plaintext: string, associatedData: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(associatedData, 'utf8'));
  return Buffer.concat([nonce, cipher.update(plaintext, 'utf8'), cipher.final(), cipher.getAuthTag()]);
}

/** Decrypts the output of `seal`; undefined for another key, other associated data or changed bytes. */
export function unseal(key: Buffer, sealed: Buffer, associatedData: string): string | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, sealed.subarray(0, NONCE_BYTES), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAAD(Buffer.from(associatedData, 'utf8')).setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    const text = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    return undefined;
  }
}

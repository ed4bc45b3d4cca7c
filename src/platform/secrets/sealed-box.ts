import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { purposeKey, type PurposeThat } from './purpose-key.js';

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

type SealingPurpose = PurposeThat<'seals'>;

/** Values for these purposes were sealed under `ENCRYPTION_KEY` itself in earlier releases. */
const ONCE_WITHOUT_PURPOSE: readonly SealingPurpose[] = ['mail', 'token key'];

/** Seals texts for one purpose, each bound to a context. */
export class SealedBox {
  private readonly keys: readonly Buffer[];

  /** With the current encryption key first: it seals, and all of them open. */
  constructor(purpose: SealingPurpose, encryptionKeys: readonly Buffer[]) {
    this.keys = encryptionKeys.map((key) => purposeKey(purpose, key));
    if (ONCE_WITHOUT_PURPOSE.includes(purpose)) this.keys = [...this.keys, ...encryptionKeys];
  }

  seal(text: string, boundTo: string): Buffer {
    return seal(this.keys[0]!, text, boundTo);
  }

  /** Undefined if no key decrypts it, or it is bound to another context. */
  open(sealed: Buffer, boundTo: string): string | undefined {
    for (const key of this.keys) {
      const text = unseal(key, sealed, boundTo);
      if (text !== undefined) return text;
    }
    return undefined;
  }

  /** Whether it is sealed under the current key, so that it need not be resealed. */
  isCurrent(sealed: Buffer, boundTo: string): boolean {
    return unseal(this.keys[0]!, sealed, boundTo) !== undefined;
  }
}

import { createHmac, createSecretKey, timingSafeEqual, type KeyObject } from 'node:crypto';
import { purposeKey, type PurposeThat } from './purpose-key.js';

/** Signs texts for one purpose (HMAC-SHA256, 43 characters of base64url). */
export class Signer {
  private readonly keys: readonly KeyObject[];

  /** With the current encryption key first: it signs, and all of them verify. */
  constructor(purpose: PurposeThat<'signs'>, encryptionKeys: readonly Buffer[]) {
    this.keys = encryptionKeys.map((key) => createSecretKey(purposeKey(purpose, key)));
  }

  sign(text: string): string {
    return signatureOf(this.keys[0]!, text);
  }

  verify(text: string, signature: string): boolean {
    const given = Buffer.from(signature);
    return this.keys.some((key) => {
      const right = Buffer.from(signatureOf(key, text));
      return given.length === right.length && timingSafeEqual(given, right);
    });
  }
}

const signatureOf = (key: KeyObject, text: string): string =>
  createHmac('sha256', key).update(text).digest('base64url');

import { purposeKey, type PurposeThat } from './purpose-key.js';
import { seal, unseal } from './seal.js';

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

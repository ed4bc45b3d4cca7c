import { purposeKey, type PurposeThat } from './purpose-key.js';
import { seal, unseal } from './seal.js';

type SealingPurpose = PurposeThat<'seals'>;

/** These were sealed under `ENCRYPTION_KEY` itself until they got a key of their own. */
const ONCE_WITHOUT_PURPOSE: readonly SealingPurpose[] = ['mail', 'token key'];

/** Seals texts for one purpose, each bound to what it belongs to. */
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

  /** Undefined if none of the keys opens it, or it is bound to something else. */
  open(sealed: Buffer, boundTo: string): string | undefined {
    for (const key of this.keys) {
      const text = unseal(key, sealed, boundTo);
      if (text !== undefined) return text;
    }
    return undefined;
  }

  /** Whether it is sealed as `seal` does now, so that it need not be sealed again. */
  isCurrent(sealed: Buffer, boundTo: string): boolean {
    return unseal(this.keys[0]!, sealed, boundTo) !== undefined;
  }
}

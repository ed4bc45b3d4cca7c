import { Signer } from '#platform/secrets/signer.js';

/** How long a nonce is given out, in seconds; it is accepted for as long again. */
const WINDOW_SECONDS = 300;

/**
 * Nonces for proofs (RFC 9449 §8). They are not stored: each is a time, signed with a key that all instances have, so every instance accepts
 * those of the others.
 */
export class DpopNonces {
  private readonly signer: Signer;

  constructor(encryptionKeys: readonly Buffer[]) {
    this.signer = new Signer('dpop nonces', encryptionKeys);
  }

  /** The nonce to use instead of this one; undefined if this one is good. `now`: seconds since 1970. */
  insteadOf(nonce: unknown, now: number): string | undefined {
    const window = Math.floor(now / WINDOW_SECONDS);
    if (typeof nonce === 'string' && (this.isOf(window, nonce) || this.isOf(window - 1, nonce)))
      return undefined;
    return this.signer.sign(String(window));
  }

  private isOf(window: number, nonce: string): boolean {
    return this.signer.verify(String(window), nonce);
  }
}

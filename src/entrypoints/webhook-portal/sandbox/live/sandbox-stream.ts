import { Readable } from 'node:stream';
import type { PortalVisitor } from '../../access/portal-visitor.js';

// A reader that takes nothing is cut off, and connects again.
const MOST_WAITING_BYTES = 16_384;

/** One page that follows a sandbox by Server-Sent Events, which say that something has changed, never what. */
export class SandboxStream extends Readable {
  /** Monotonic, in milliseconds. */
  readonly openedAt = performance.now();
  lastWriteAt = this.openedAt;
  /** What the sandbox looked like when its reader was last told. */
  state: string | undefined;

  constructor(readonly visitor: PortalVisitor) {
    super({ read: () => undefined });
  }

  /** The session of the reader. */
  get session(): string {
    return this.visitor.sessionDigest.toString('base64url');
  }

  /** Tells the reader to reload the page's contents. */
  tellChange(): void {
    this.write('event: change\ndata: {}\n\n');
  }

  /** A comment shows that the stream is alive. */
  comment(): void {
    this.write(': alive\n\n');
  }

  /** Ends the response after what was written. */
  finish(): void {
    if (!this.destroyed) this.push(null);
  }

  private write(text: string): void {
    if (this.destroyed || this.readableEnded) return;
    this.lastWriteAt = performance.now();
    this.push(text);
    if (this.readableLength > MOST_WAITING_BYTES) this.destroy();
  }
}

import { Readable } from 'node:stream';
import type { AccessSubject } from '#platform/database/changes/access-subject.js';
import type { Principal } from '#access/tokens/access/principal.js';

// A reader that is this far behind is disconnected, and resumes where it was.
const MOST_WAITING_BYTES = 1_048_576;
/** With more changes than this at once, readers are told to forget everything instead. */
const MOST_SUBJECTS = 1_000;

/** One reader of the feed: Server-Sent Events as text. What arrives before the replay is done waits. */
export class ChangeStream extends Readable {
  private waiting: string[] | undefined = [];
  private isFinished = false;
  /** Monotonic, in milliseconds: when something was last written. */
  lastWriteAt = performance.now();

  constructor(
    readonly token: string,
    readonly principal: Principal,
  ) {
    super({ read: () => undefined });
  }

  /** Writes the replay, then what has arrived in the meantime, and a comment that marks the start of live changes. */
  begin(replayed: string, position: string): void {
    const waiting = this.waiting ?? [];
    this.waiting = undefined;
    this.write(replayed + waiting.join('') + comment(position));
  }

  /** Writes text, or keeps it until the stream begins. Cuts off the reader if too much is waiting. */
  write(text: string): void {
    // Not `readableEnded`, which waits for the reader: what came after the end would cut off what was written before.
    if (this.destroyed || this.isFinished) return;
    if (this.waiting) {
      this.waiting.push(text);
      return;
    }
    this.lastWriteAt = performance.now();
    this.push(Buffer.from(text));
    if (this.readableLength > MOST_WAITING_BYTES) this.destroy();
  }

  /** Ends the response after what was written. */
  finish(): void {
    this.isFinished = true;
    if (this.waiting) this.destroy();
    else if (!this.destroyed) this.push(null);
  }
}

/**
 * The events of one read. Only the last has the position after it: a reader that is cut off between two of them gets all of them again,
 * which is harmless.
 */
export function changeEvents(subjects: readonly AccessSubject[], before: string, after: string): string {
  const distinct = [...new Set(subjects.map((subject) => JSON.stringify(subject)))];
  const told = distinct.includes('{}') || distinct.length > MOST_SUBJECTS ? ['{}'] : distinct;
  return told.map((data, n) => event('change', n === told.length - 1 ? after : before, data)).join('');
}

export const resetEvent = (position: string): string => event('reset', position, '{}');

/** Sends the position as an id, so that a reader that resumes after a quiet day does not replay that day. */
export const comment = (position: string): string => `: ${position}\nid: ${position}\n\n`;

const event = (name: string, position: string, data: string): string =>
  `event: ${name}\nid: ${position}\ndata: ${data}\n\n`;

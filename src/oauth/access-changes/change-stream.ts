import { Readable } from 'node:stream';
import type { AccessSubject } from '../../database/changes/access-subject.js';
import type { Principal } from '../../tokens/access/principal.js';

// A reader that is this far behind is cut, and resumes where it was.
const MOST_WAITING_BYTES = 1_048_576;
/** Of more than this many at once, everything is forgotten instead. */
const MOST_SUBJECTS = 1_000;

/** One reader of the feed: Server-Sent Events as text. What arrives before it begins waits for what is replayed first. */
export class ChangeStream extends Readable {
  private waiting: string[] | undefined = [];
  /** Monotonic, in milliseconds: when something was last written. */
  lastWriteAt = performance.now();

  constructor(
    readonly token: string,
    readonly principal: Principal,
  ) {
    super({ read: () => undefined });
  }

  /** Writes what is replayed, then what has arrived since, and a comment that says that from here on everything is live. */
  begin(replayed: string, position: string): void {
    const waiting = this.waiting ?? [];
    this.waiting = undefined;
    this.write(replayed + waiting.join('') + comment(position));
  }

  /** Writes text, or keeps it until the stream begins. Cuts the reader if too much is waiting. */
  write(text: string): void {
    if (this.destroyed || this.readableEnded) return;
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
    if (this.waiting) this.destroy();
    else if (!this.destroyed) this.push(null);
  }
}

/**
 * The events of one read. Only the last has the position after it: a reader that is cut off between two of them reads all of them again,
 * which does no harm.
 */
export function changeEvents(subjects: readonly AccessSubject[], before: string, after: string): string {
  const distinct = [...new Set(subjects.map((subject) => JSON.stringify(subject)))];
  const told = distinct.includes('{}') || distinct.length > MOST_SUBJECTS ? ['{}'] : distinct;
  return told.map((data, n) => event('change', n === told.length - 1 ? after : before, data)).join('');
}

export const resetEvent = (position: string): string => event('reset', position, '{}');

/** The position is an id too, so that a reader that resumes after a quiet day does not begin a day ago. */
export const comment = (position: string): string => `: ${position}\nid: ${position}\n\n`;

const event = (name: string, position: string, data: string): string =>
  `event: ${name}\nid: ${position}\ndata: ${data}\n\n`;

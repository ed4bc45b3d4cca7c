import { createHash } from 'node:crypto';

/** Numbers that follow from a seed: the same seed and purpose give the same ones. */
export class SeededRandom {
  private state: number;

  constructor(seed: number, purpose: string) {
    this.state = createHash('sha256').update(`${seed} ${purpose}`).digest().readUInt32LE(0);
  }

  /** At least 0, below 1 (mulberry32). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.state ^ (this.state >>> 15), 1 | this.state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** A whole number between the two, both included. */
  whole(min: number, max: number): number {
    return min + Math.floor(this.next() * (max - min + 1));
  }

  oneOf<T>(options: readonly T[]): T {
    return options[this.whole(0, options.length - 1)]!;
  }

  /** In the form of a random UUID (RFC 9562). */
  uuid(): string {
    const bytes = Buffer.from(Array.from({ length: 16 }, () => this.whole(0, 255)));
    bytes[6] = (bytes[6]! & 0x0f) | 0x40;
    bytes[8] = (bytes[8]! & 0x3f) | 0x80;
    const hex = bytes.toString('hex');
    return [
      [0, 8],
      [8, 12],
      [12, 16],
      [16, 20],
      [20, 32],
    ]
      .map(([from, to]) => hex.slice(from, to))
      .join('-');
  }
}

import { Injectable } from '@nestjs/common';

/** What waits or fails in a part of the console. */
export interface WaitingCount {
  part: string;
  /** What is said of them. */
  word: string;
  /** Returns one number, by a partial index. */
  sql: string;
}

/** The port through which features add counts to the navigation of the console. */
@Injectable()
export class WaitingCounts {
  readonly added: WaitingCount[] = [];

  add(count: WaitingCount): void {
    this.added.push(count);
  }
}

import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers';
import type { FastifyInstance } from 'fastify';
import { say } from '../../language/text.js';
import { serviceUnavailable } from '../problems/problem.js';
import { inRequestContext } from '../server/request-context.js';
import { isForPerson } from '../server/route-options.js';

const WAITING_MAX = 1_000;
/** If everything else takes no longer in a turn of the event loop, nothing else waits. */
const IDLE_MS = 0.3;

/**
 * Lets the work on pages give way to tokens and bearer requests: it is done in parts, one in a turn of the event loop, in the order in
 * which they came, and after each part everything else gets as much time as that took, if it needs any.
 */
@Injectable()
export class PageTurns {
  private readonly waiting: (() => void)[] = [];
  private isGoing = false;
  /** For how many milliseconds everything else comes first. */
  private owed = 0;
  private since = 0;

  /** Whether so many wait already that another one would wait in vain. */
  get areFull(): boolean {
    return this.waiting.length >= WAITING_MAX;
  }

  /** Resolves when the next part of the work may be done, up to the next time that it waits for something. */
  take(): Promise<void> {
    return new Promise((resolve) => this.whenItIsTime(resolve));
  }

  /** Does a part of the work when its turn has come. */
  whenItIsTime(work: () => void): void {
    this.waiting.push(work);
    if (this.isGoing) return;
    this.isGoing = true;
    this.goOn();
  }

  private goOn(): void {
    let begun: number | undefined;
    setImmediate(() => {
      const now = performance.now();
      const others = now - this.since;
      this.owed = others > IDLE_MS ? this.owed - others : 0;
      this.since = now;
      if (this.owed > 0) return;
      begun = now;
      this.waiting.shift()!();
    });
    // In the same turn of the event loop, after all that the work has done at once.
    setImmediate(() => {
      if (begun !== undefined) {
        this.since = performance.now();
        this.owed = this.since - begun;
      }
      this.isGoing = this.waiting.length > 0;
      if (this.isGoing) this.goOn();
    });
  }
}

/** Lets every page, and what looks for one at an address that there is not, take its turn before anything else is done for it. */
export function addPageTurns(fastify: FastifyInstance, turns: PageTurns): void {
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    if (!isForPerson(request)) return done(null, payload);
    if (turns.areFull) return done(tooMany());
    turns.whenItIsTime(() => {
      // Nobody waits for an answer if the browser has gone meanwhile.
      if (!reply.raw.destroyed) inRequestContext(request, () => done(null, payload));
    });
  });
}

/** Rows of a file: so many in a turn. */
export async function* inTurns<T>(turns: PageTurns, rows: AsyncIterable<T>, each: number): AsyncGenerator<T> {
  let count = 0;
  for await (const row of rows) {
    if (count++ % each === 0) await turns.take();
    yield row;
  }
}

const tooMany = () =>
  serviceUnavailable(say('Very many pages are being opened at the moment. Please try again shortly.'), {
    headers: { 'retry-after': '5' },
  });

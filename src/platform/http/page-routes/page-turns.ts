import { Injectable } from '@nestjs/common';
import { setImmediate } from 'node:timers';
import type { FastifyInstance } from 'fastify';
import { say } from '#platform/language/text.js';
import { serviceUnavailable } from '../problems/problem.js';
import { inRequestContext } from '../server/request-context.js';
import { isForPerson } from '../server/route-options.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** Tells that no more is done for this page but to send it. */
    endPageTurn?: () => void;
  }
}

const WAITING_MAX = 1_000;
/** After so long another page is begun although one is under way: that one waits for the database, or for another server. */
const UNDER_WAY_MS = 100;
/** If everything else takes no longer in a turn of the event loop, nothing else waits. */
const IDLE_MS = 0.3;

/**
 * Lets the work on pages give way to tokens and bearer requests: one page is under way at a time, and the work on
 * it is done in parts, one in a turn of the event loop; after each part everything else gets as much time as that took, if it needs any.
 */
@Injectable()
export class PageTurns {
  /** Parts of the pages that have begun. */
  private readonly parts: (() => void)[] = [];
  /** Those that have not, in the order in which they came. */
  private readonly pages: (() => void)[] = [];
  private isUnderWay = false;
  private isGoing = false;
  /** For how many milliseconds everything else comes first. */
  private owed = 0;
  private since = 0;

  /** Whether so many wait already that another one would wait in vain. */
  get areFull(): boolean {
    return this.pages.length >= WAITING_MAX;
  }

  /** Resolves when the next part of the work may be done, up to the next time that it waits for something. */
  take(): Promise<void> {
    return new Promise((resolve) => {
      this.parts.push(resolve);
      this.goOnIfIdle();
    });
  }

  /** Begins a page when its turn has come. `work` gets what to call at the end of the page. */
  whenItIsTime(work: (end: () => void) => void): void {
    this.pages.push(() => work(this.underWay()));
    this.goOnIfIdle();
  }

  /** Returns what ends it; the next page begins then, or when this one takes too long. */
  private underWay(): () => void {
    this.isUnderWay = true;
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.isUnderWay = false;
      this.goOnIfIdle();
    };
    const timer = setTimeout(end, UNDER_WAY_MS);
    timer.unref();
    return end;
  }

  /** Those whose turn it is. */
  private get next(): (() => void)[] | undefined {
    if (!this.isUnderWay && this.pages.length > 0) return this.pages;
    return this.parts.length > 0 ? this.parts : undefined;
  }

  private goOnIfIdle(): void {
    if (this.isGoing || !this.next) return;
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
      this.next!.shift()!();
    });
    // In the same turn of the event loop, after all that the work has done at once.
    setImmediate(() => {
      if (begun !== undefined) {
        this.since = performance.now();
        this.owed = this.since - begun;
      }
      this.isGoing = this.next !== undefined;
      if (this.isGoing) this.goOn();
    });
  }
}

/** Lets every page, and what looks for one at an address that there is not, take its turn before anything else is done for it. */
export function addPageTurns(fastify: FastifyInstance, turns: PageTurns): void {
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    if (!isForPerson(request)) return done(null, payload);
    if (turns.areFull) return done(tooMany());
    turns.whenItIsTime((end) => {
      // Nobody waits for an answer if the browser has gone meanwhile.
      if (reply.raw.destroyed) return end();
      request.endPageTurn = end;
      reply.raw.once('close', end);
      inRequestContext(request, () => done(null, payload));
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

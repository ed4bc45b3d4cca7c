import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { LoopPace } from '../../database/background/loop-pace.js';
import { say } from '../../language/text.js';
import { serviceUnavailable } from '../problems/problem.js';
import { inRequestContext } from '../server/request-context.js';
import { isForPerson } from '../server/route-options.js';

/** How many pages an instance works on at a time, by the spare capacity of its event loop. */
const AT_ONCE = { least: 2, first: 8, most: 64 };
/** A slower one makes room for another: it waits for something else, such as the database or an identity provider. */
const SLOW_AFTER_MS = 1_000;
const WAITING_MAX = 1_000;

declare module 'fastify' {
  interface FastifyReply {
    turn?: PageTurn;
  }
}

/** The right to work on one page. */
export interface PageTurn {
  /** Call when the work is done, once or more often. */
  end: () => void;
}

/**
 * Lets pages give way to tokens and bearer requests, as deliveries do: while the event loop is late, few pages are worked on at a time,
 * and the others wait in the order in which they came. A large file takes a turn for each part of it.
 */
@Injectable()
export class PageTurns {
  private readonly waiting: ((turn: PageTurn) => void)[] = [];
  private readonly pace = new LoopPace(AT_ONCE, () => this.goOn());
  private active = 0;

  /** Whether so many wait already that another one would wait in vain. */
  get areFull(): boolean {
    return this.waiting.length >= WAITING_MAX;
  }

  take(): Promise<PageTurn> {
    return new Promise((resolve) => this.whenThereIsRoom(resolve));
  }

  whenThereIsRoom(work: (turn: PageTurn) => void): void {
    this.waiting.push(work);
    this.goOn();
  }

  private goOn(): void {
    while (this.waiting.length > 0 && this.active < this.pace.limit) this.waiting.shift()!(this.begin());
    if (this.waiting.length > 0) this.pace.wantMore();
  }

  private begin(): PageTurn {
    this.active++;
    this.pace.watch();
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      this.active--;
      this.goOn();
    };
    const timer = setTimeout(end, SLOW_AFTER_MS).unref();
    return { end };
  }
}

/** Lets every page, and what looks for one at an address that there is not, take its turn before anything else is done for it. */
export function addPageTurns(fastify: FastifyInstance, turns: PageTurns): void {
  fastify.decorateReply('turn', undefined);
  fastify.addHook('preParsing', (request, reply, payload, done) => {
    if (!isForPerson(request)) return done(null, payload);
    if (turns.areFull) return done(tooMany());
    turns.whenThereIsRoom((turn) => {
      // The browser has gone meanwhile: nobody waits for an answer.
      if (reply.raw.destroyed) return turn.end();
      reply.turn = turn;
      inRequestContext(request, () => done(null, payload));
    });
  });
  // A stream or a file goes on after its turn: PageAnswers sends it.
  fastify.addHook('onSend', (_request, reply, payload, done) => {
    reply.turn?.end();
    done(null, payload);
  });
}

/** The rows of a file, in turns of so many. */
export async function* inTurns<T>(turns: PageTurns, rows: AsyncIterable<T>, each: number): AsyncGenerator<T> {
  let turn = await turns.take();
  try {
    let count = 0;
    for await (const row of rows) {
      yield row;
      if (++count % each !== 0) continue;
      turn.end();
      turn = await turns.take();
    }
  } finally {
    turn.end();
  }
}

const tooMany = () =>
  serviceUnavailable(say('Very many pages are being opened at the moment. Please try again shortly.'), {
    headers: { 'retry-after': '5' },
  });

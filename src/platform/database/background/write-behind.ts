import { Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { outsideTransaction } from '../queries/transaction-around.js';

const WRITE_EVERY_MS = 5_000;

/** Collects records in this process and writes them in batches every few seconds, outside of requests. */
export abstract class WriteBehind implements OnModuleInit, BeforeApplicationShutdown {
  protected readonly logger = new Logger(this.constructor.name);
  private writing: Promise<void> = Promise.resolve();
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly server: HttpAdapterHost) {}

  onModuleInit(): void {
    this.timer = setInterval(() => void this.flush(), WRITE_EVERY_MS).unref();
    // After the last request, and before the connection pool is closed.
    this.fastify.addHook('onClose', () => this.flushLast());
    if (!this.noteAnswer) return;
    this.fastify.addHook('onResponse', (request, reply, done) => {
      this.noteAnswer!(request, reply);
      done();
    });
  }

  beforeApplicationShutdown(): void {
    clearInterval(this.timer);
  }

  /** Writes everything collected since the last write; one write at a time. */
  flush(): Promise<void> {
    // What others have collected, too.
    this.writing = outsideTransaction(() => this.writing.then(() => this.write()));
    return this.writing;
  }

  private get fastify(): FastifyInstance {
    return this.server.httpAdapter.getInstance<FastifyInstance>();
  }

  protected flushLast(): Promise<void> {
    return this.flush();
  }

  /** Called after every response, for subclasses that record requests. */
  protected noteAnswer?(request: FastifyRequest, reply: FastifyReply): void;

  /** Writes everything collected so far; never rejects. */
  protected abstract write(): Promise<void>;
}

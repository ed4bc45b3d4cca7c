import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Interval } from '@nestjs/schedule';
import type { FastifyInstance } from 'fastify';
import { HOUR_MS } from '../config/durations.js';
import { Transactions } from '../database/queries/transactions.js';
import { SecretUsesRepository, type SecretUse } from './secret-uses.repository.js';

const FLUSH_EVERY_MS = 10_000;

/**
 * Which secrets are used, to the hour (contract §20): noted in this process, and written behind the answers, many at once. A secret is
 * written once an hour by each instance. What is not yet written is lost when an instance is killed, until the next use.
 */
@Injectable()
export class SecretUses implements OnModuleInit {
  private readonly logger = new Logger(SecretUses.name);
  /** The hour in which each digest in memory was last noted. */
  private readonly noted = new WeakMap<Buffer, number>();
  private waiting = new Map<string, SecretUse>();
  private writing: Promise<void> = Promise.resolve();

  constructor(
    private readonly repository: SecretUsesRepository,
    private readonly transactions: Transactions,
    private readonly server: HttpAdapterHost,
  ) {}

  onModuleInit(): void {
    // After the last request, and before the connection pool is closed.
    this.server.httpAdapter.getInstance<FastifyInstance>().addHook('onClose', () => this.flush());
  }

  /** Costs no query. `digest` is the one that is kept in memory with its client. */
  note(clientId: string, digest: Buffer): void {
    const hour = Math.floor(Date.now() / HOUR_MS);
    if (this.noted.get(digest) === hour) return;
    this.noted.set(digest, hour);
    this.add({ clientId, digest });
  }

  /** Writes what was noted since the last write; one write at a time. */
  flush(): Promise<void> {
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  @Interval(FLUSH_EVERY_MS)
  protected flushOnSchedule(): Promise<void> {
    return this.flush();
  }

  private add(use: SecretUse): void {
    this.waiting.set(`${use.clientId} ${use.digest.toString('base64url')}`, use);
  }

  private async write(): Promise<void> {
    if (this.waiting.size === 0) return;
    const used = [...this.waiting.values()];
    this.waiting = new Map();
    try {
      await this.transactions.retried(() => this.repository.note(used));
    } catch (error) {
      this.logger.warn(`Uses of secrets could not be written: ${(error as Error).message}`);
      // The database is unavailable: they are written next time.
      for (const use of used) this.add(use);
    }
  }
}

import {
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import type { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { detached } from '#platform/telemetry/log-scope.js';
import type { SchemaCompatibility } from '../migrations/schema-compatibility.service.js';

/** Contract §14: work that is still running this long after SIGTERM is aborted. */
const ABORT_AFTER_MS = 8_000;

/** A worker that claims due rows of a queue and processes several at a time, for as long as the service runs. */
export abstract class QueueWorker implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  protected readonly logger = new Logger(this.constructor.name);
  protected readonly underWay = new Set<Promise<void>>();
  /** Aborted when a shutdown has waited long enough. */
  protected readonly abort = new AbortController();
  private isClaiming = false;
  private claimAgain = false;
  protected isRunning = false;
  private stopped = Promise.resolve();
  /** How often to look for what other instances queued or gave back, beside what wakes it up. */
  protected readonly pollEveryMs: number | undefined;
  private poll: NodeJS.Timeout | undefined;

  constructor(
    /** What it works on, for the log. */
    private readonly noun: string,
    private readonly server: HttpAdapterHost,
    private readonly schema: SchemaCompatibility,
    /** Whether this instance works on queues at all (`ROLE`). */
    private readonly isOn = true,
  ) {}

  onModuleInit(): void {
    // The last moment before the connection pool is closed, which is the first thing that a shutdown ends.
    const fastify = this.server.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onClose', () => this.stopped);
  }

  onApplicationBootstrap(): void {
    this.isRunning = this.isOn;
    void this.claimDue();
    if (this.pollEveryMs) this.poll = setInterval(() => void this.claimDue(), this.pollEveryMs).unref();
  }

  /** Begins to stop: running work completes while the server finishes its requests. */
  beforeApplicationShutdown(): void {
    this.isRunning = false;
    clearInterval(this.poll);
    this.stopped = this.finish();
  }

  /** Claims and starts due work as long as there is some and there is room. */
  protected claimDue(): Promise<void> {
    return detached(() => this.claimWhileRoom());
  }

  protected abstract hasRoom(): boolean;

  /** Claims and starts due work; returns whether to claim again at once. */
  protected abstract claim(): Promise<boolean>;

  private async claimWhileRoom(): Promise<void> {
    this.claimAgain = true;
    if (this.isClaiming || !this.isRunning || this.schema.isOutdated) return;
    this.isClaiming = true;
    try {
      while (this.claimAgain && this.isRunning && !this.schema.isOutdated && this.hasRoom()) {
        this.claimAgain = false;
        if (await this.claim()) this.claimAgain = true;
      }
    } catch (error) {
      this.logger.warn(`${this.noun} could not be claimed: ${(error as Error).message}`);
    } finally {
      this.isClaiming = false;
    }
  }

  private async finish(): Promise<void> {
    const timer = setTimeout(() => this.abort.abort(), ABORT_AFTER_MS);
    while (this.isClaiming || this.underWay.size > 0) {
      await Promise.allSettled(this.underWay);
      if (this.isClaiming) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    clearTimeout(timer);
    this.afterLast();
  }

  /** Called after the last work has ended. */
  protected afterLast(): void {
    // Most workers have nothing to close.
  }
}

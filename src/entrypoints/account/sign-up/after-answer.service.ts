import { Injectable, Logger, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { detached } from '#platform/telemetry/log-scope.js';

/**
 * Work that must not influence the response or its timing, because that would reveal whether an address has an account. The
 * shutdown waits for it.
 */
@Injectable()
export class AfterAnswer implements OnModuleInit {
  private readonly logger = new Logger(AfterAnswer.name);
  private readonly underWay = new Set<Promise<void>>();

  constructor(private readonly server: HttpAdapterHost) {}

  onModuleInit(): void {
    const fastify = this.server.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onClose', async () => {
      await Promise.allSettled(this.underWay);
    });
  }

  /** Starts the work. A failure is logged under this name; the person has to try again. */
  run(name: string, work: () => Promise<void>): void {
    const running = detached(work)
      .catch((error: Error) => this.logger.warn(`${name} failed: ${error.message}`))
      .finally(() => this.underWay.delete(running));
    this.underWay.add(running);
  }
}

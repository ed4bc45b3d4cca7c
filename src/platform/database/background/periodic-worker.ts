import { Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import type { Settings } from '#platform/config/settings.js';
import type { SchemaCompatibility } from '../migrations/schema-compatibility.service.js';

/** Work that is repeated on every instance that processes queues: one run at a time, until the service stops. */
export abstract class PeriodicWorker implements BeforeApplicationShutdown {
  protected readonly logger = new Logger(this.constructor.name);
  protected readonly stopping = new AbortController();
  private running: Promise<void> | undefined;

  constructor(
    /** The log line for a failed run. */
    private readonly failure: string,
    protected readonly settings: Settings,
    private readonly schema: SchemaCompatibility,
  ) {}

  /** Runs before the connection pool is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** Call it on a schedule. A failure is logged, and the next run tries again. */
  protected async runAlone(work: () => Promise<unknown>): Promise<void> {
    const { settings, running, stopping, schema } = this;
    if (!settings.works || running || stopping.signal.aborted || schema.isOutdated) return;
    this.running = work()
      .then(() => undefined)
      .catch((error: Error) => this.logger.warn(`${this.failure}: ${error.message}`))
      .finally(() => (this.running = undefined));
    await this.running;
  }
}

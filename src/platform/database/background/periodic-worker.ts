import { Logger, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import type { Settings } from '#platform/config/settings.js';
import { detached } from '#platform/telemetry/log-scope.js';
import type { SchemaCompatibility } from '../migrations/schema-compatibility.service.js';

interface Schedule {
  everyMs: number;
  /** The log line for a failed run, which ends with the reason. */
  failure: string;
  /** Also on instances that do not process queues (`ROLE`). */
  isEverywhere?: boolean;
}

/** Work that is repeated on every instance that processes queues: one run at a time, until the service stops. */
export abstract class PeriodicWorker implements OnApplicationBootstrap, BeforeApplicationShutdown {
  protected readonly logger = new Logger(this.constructor.name);
  protected readonly stopping = new AbortController();
  private timer: NodeJS.Timeout | undefined;
  private running: Promise<void> | undefined;

  constructor(
    private readonly schedule: Schedule,
    protected readonly settings: Settings,
    private readonly schema: SchemaCompatibility,
  ) {}

  onApplicationBootstrap(): Promise<void> | void {
    this.timer = detached(() => setInterval(() => void this.runAlone(), this.schedule.everyMs).unref());
  }

  /** Runs before the connection pool is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await this.running;
  }

  /** What is repeated. A failure is logged, and the next run tries again. */
  protected abstract work(): unknown;

  /** Runs the work now, unless it is running. */
  protected async runAlone(): Promise<void> {
    const { settings, running, stopping, schema } = this;
    const { failure, isEverywhere } = this.schedule;
    if (!(settings.works || isEverywhere) || running || stopping.signal.aborted || schema.isOutdated) return;
    this.running = (async () => void (await this.work()))()
      .catch((error: Error) => this.logger.warn(`${failure}: ${error.message}`))
      .finally(() => (this.running = undefined));
    await this.running;
  }
}

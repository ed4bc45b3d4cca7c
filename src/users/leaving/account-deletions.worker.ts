import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Settings } from '../../config/settings.js';
import { SchemaCompatibility } from '../../database/migrations/schema-compatibility.service.js';
import { AccountDeletions } from './account-deletions.service.js';

const ERASE_EVERY_MS = 60_000;

/** Erases the accounts that are due, every minute, on every instance that works on what waits. */
@Injectable()
export class AccountDeletionsWorker implements BeforeApplicationShutdown {
  private readonly logger = new Logger(AccountDeletionsWorker.name);
  private running: Promise<void> | undefined;
  private isStopping = false;

  constructor(
    private readonly deletions: AccountDeletions,
    private readonly settings: Settings,
    private readonly schema: SchemaCompatibility,
  ) {}

  /** Runs before the connection pool is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.isStopping = true;
    await this.running;
  }

  /** One run at a time. A failure is logged, and the next run tries again. */
  @Interval(ERASE_EVERY_MS)
  protected async eraseOnSchedule(): Promise<void> {
    if (!this.settings.works || this.running || this.isStopping || this.schema.isOutdated) return;
    this.running = this.deletions
      .eraseDue()
      .then((erased) => {
        if (erased > 0) this.logger.log(`Accounts were erased, as their owners asked: ${erased}`);
      })
      .catch((error: Error) => this.logger.warn(`Erasing accounts stopped early: ${error.message}`))
      .finally(() => (this.running = undefined));
    await this.running;
  }
}

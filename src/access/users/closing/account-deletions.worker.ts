import { Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Settings } from '#platform/config/settings.js';
import { PeriodicWorker } from '#platform/database/background/periodic-worker.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { AccountDeletionsService } from './account-deletions.service.js';

const ERASE_EVERY_MS = 60_000;

/** Erases the accounts that are due, every minute. */
@Injectable()
export class AccountDeletionsWorker extends PeriodicWorker {
  constructor(
    private readonly deletions: AccountDeletionsService,
    settings: Settings,
    schema: SchemaCompatibility,
  ) {
    super('Erasing accounts stopped early', settings, schema);
  }

  @Interval(ERASE_EVERY_MS)
  protected eraseOnSchedule(): Promise<void> {
    return this.runAlone(async () => {
      const erased = await this.deletions.eraseDue(this.stopping.signal);
      if (erased > 0) this.logger.log(`Accounts were erased, as their owners asked: ${erased}`);
    });
  }
}

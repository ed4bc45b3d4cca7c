import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { PeriodicWorker } from '#platform/database/background/periodic-worker.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { AccountDeletionsService } from './account-deletions.service.js';

/** Erases the accounts that are due, every minute. */
@Injectable()
export class AccountDeletionsWorker extends PeriodicWorker {
  constructor(
    private readonly deletions: AccountDeletionsService,
    settings: Settings,
    schema: SchemaCompatibility,
  ) {
    super({ everyMs: 60_000, failure: 'Erasing accounts stopped early' }, settings, schema);
  }

  protected async work(): Promise<void> {
    const erased = await this.deletions.eraseDue(this.stopping.signal);
    if (erased > 0) this.logger.log(`Accounts were erased, as their owners asked: ${erased}`);
  }
}

import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { PeriodicWorker } from '#platform/database/background/periodic-worker.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { NotificationsService } from './notifications.service.js';

/** Resolves notifications that are due, every five seconds. */
@Injectable()
export class DueNotificationsWorker extends PeriodicWorker {
  constructor(
    private readonly notifications: NotificationsService,
    settings: Settings,
    schema: SchemaCompatibility,
  ) {
    const failure = 'Resolving notifications stopped early';
    super({ everyMs: 5_000, failure, isEverywhere: true }, settings, schema);
  }

  protected work(): Promise<void> {
    return this.notifications.resolveDue();
  }
}

import { Injectable, Logger } from '@nestjs/common';
import { MIGRATION_NAMES } from '../../../../migrations/index.js';
import { REQUIREMENTS_CHANNEL } from '../../../../migrations/support/required-migration.js';
import { Listener } from '../connections/listener.service.js';
import { RequiredMigrationsRepository } from './required-migrations.repository.js';

/**
 * Whether this build may keep working on the schema: not once a migration that it does not know is marked as required. The
 * database announces that when it is committed, and it is queried again with every readiness check.
 */
@Injectable()
export class SchemaCompatibility {
  private readonly logger = new Logger(SchemaCompatibility.name);
  private outdated = false;

  constructor(
    private readonly repository: RequiredMigrationsRepository,
    listener: Listener,
  ) {
    listener.listen(REQUIREMENTS_CHANNEL, {
      onConnected: () => void this.look().catch(() => undefined),
      onAnnouncement: (name) => {
        // Takes effect immediately, and is verified right after.
        this.judge([name], true);
        void this.look().catch(() => undefined);
      },
    });
  }

  /** True once this build is known to be too old for the schema. */
  get isOutdated(): boolean {
    return this.outdated;
  }

  /** Queries the database; rejects if it does not respond. */
  async look(): Promise<boolean> {
    this.judge(await this.repository.names(), false);
    return this.outdated;
  }

  /** `isAddition`: they are added to those known before. */
  private judge(required: string[], isAddition: boolean): void {
    const unknown = required.filter((name) => !MIGRATION_NAMES.has(name));
    const outdated = unknown.length > 0 || (isAddition && this.outdated);
    if (outdated && !this.outdated) {
      this.logger.error(
        `The database schema requires a newer build with these migrations: ${unknown.join(', ')}; this instance no longer serves requests.`,
      );
    }
    this.outdated = outdated;
  }
}

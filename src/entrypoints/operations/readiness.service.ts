import { Injectable, Logger, type OnModuleDestroy } from '@nestjs/common';
import { HealthIndicatorService, type HealthIndicatorResult } from '@nestjs/terminus';
import { Listener } from '#platform/database/connections/listener.service.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { schemaDiffers } from '#platform/database/migrations/schema-objects.js';
import { ReadinessRepository } from './readiness.repository.js';

// Load balancers check often; a database that takes longer than this counts as not ready.
const TIMEOUT_MS = 1500;

const NOTIFICATIONS_LOST =
  'notifications from the database do not arrive: DATABASE_URL must point to PostgreSQL itself, or to a pooler in session mode';

const NO_WRITES = {
  standby: 'the database is a standby that was not promoted, and accepts no writes',
  stopped: 'the database accepts no writes: default_transaction_read_only is on',
};

/** Whether requests can be served: the database responds, its schema fits this build, and no shutdown has begun. */
@Injectable()
export class ReadinessService implements OnModuleDestroy {
  private readonly logger = new Logger(ReadinessService.name);
  private isStopping = false;
  private isMigrated = false;
  private looking: Promise<void> | undefined;
  private difference: string | undefined;

  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly repository: ReadinessRepository,
    private readonly listener: Listener,
    private readonly schema: SchemaCompatibility,
  ) {}

  /** Makes the instance not ready, as the first step of a shutdown. */
  onModuleDestroy(): void {
    this.isStopping = true;
  }

  /** Down as soon as a shutdown begins. */
  process(): HealthIndicatorResult {
    const check = this.indicators.check('process');
    return this.isStopping ? check.down({ reason: 'the instance is shutting down' }) : check.up();
  }

  /** Down while the database does not respond within 1.5 s, or accepts no writes. */
  async reachable(): Promise<HealthIndicatorResult> {
    const check = this.indicators.check('database');
    let writes: Awaited<ReturnType<ReadinessRepository['writes']>> = 'accepted';
    const result = await check
      .attempt(async () => {
        writes = await this.repository.writes();
      })
      .withTimeout(TIMEOUT_MS);
    if (result.database.status !== 'up') return check.down({ reason: 'the database does not respond' });
    return writes === 'accepted' ? result : check.down({ reason: NO_WRITES[writes] });
  }

  /** Down if the database responds but its notifications do not arrive: behind a pooler in transaction mode. */
  async announcements(): Promise<HealthIndicatorResult> {
    const check = this.indicators.check('announcements');
    await check.attempt(() => this.listener.tried()).withTimeout(TIMEOUT_MS);
    return this.listener.losesNotifications ? check.down({ reason: NOTIFICATIONS_LOST }) : check.up();
  }

  /** Down once the schema requires a newer build. Queried every time, from a table with a few rows. */
  async compatible(): Promise<HealthIndicatorResult> {
    const check = this.indicators.check('schema');
    const result = await check
      .attempt(async () => {
        await this.schema.look();
      })
      .withTimeout(TIMEOUT_MS);
    return this.schema.isOutdated
      ? check.down({ reason: 'the schema of the database requires a newer build' })
      : result;
  }

  /**
   * Down while the database lacks a migration of this build, or its schema is not what these migrations make; migrations of newer
   * builds do not matter. Migrations are never reverted, so a positive result is cached and costs no further query.
   */
  async migrations(): Promise<HealthIndicatorResult> {
    const check = this.indicators.check('migrations');
    if (this.isMigrated) return check.up();
    const look = () => (this.looking ??= this.lookAtMigrations().finally(() => (this.looking = undefined)));
    const result = await check.attempt(look).withTimeout(TIMEOUT_MS);
    return this.difference === undefined ? result : check.down({ reason: this.difference });
  }

  private async lookAtMigrations(): Promise<void> {
    if (!(await this.repository.isMigrated())) throw new Error('not done');
    const differences = await this.repository.schemaDifferences();
    this.isMigrated = differences.length === 0;
    const before = this.difference;
    this.difference = this.isMigrated ? undefined : schemaDiffers(differences);
    if (this.difference !== undefined && this.difference !== before) this.logger.error(this.difference);
  }
}

import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { HealthIndicatorService, TypeOrmHealthIndicator, type HealthIndicatorResult } from '@nestjs/terminus';
import { DataSource, type MigrationInterface } from 'typeorm';

// A load balancer asks again soon; a database that takes longer is not ready.
const TIMEOUT_MS = 1500;

/** Whether requests can be served: the database answers, its schema is the one this build needs, and the process goes on. */
@Injectable()
export class ReadinessService implements OnModuleDestroy {
  private isStopping = false;
  private isMigrated = false;

  constructor(
    private readonly indicators: HealthIndicatorService,
    private readonly database: TypeOrmHealthIndicator,
    private readonly dataSource: DataSource,
  ) {}

  /** From now on this instance is not ready: the first thing that a shutdown does. */
  onModuleDestroy(): void {
    this.isStopping = true;
  }

  /** Down from the moment at which a shutdown begins. */
  process(): HealthIndicatorResult {
    const check = this.indicators.check('process');
    return this.isStopping ? check.down('shutting down') : check.up();
  }

  /** Down while the database does not answer within 1.5 s. */
  async reachable(): Promise<HealthIndicatorResult> {
    return this.database.pingCheck('database', { timeout: TIMEOUT_MS });
  }

  /**
   * Down while the database misses a migration that this build knows; migrations of a newer build do not matter. Nothing takes
   * a migration back, so that a good answer is kept and costs no query any more.
   */
  async migrations(): Promise<HealthIndicatorResult> {
    const check = this.indicators.check('migrations');
    return this.isMigrated
      ? check.up()
      : check.attempt(() => this.lookAtMigrations()).withTimeout(TIMEOUT_MS);
  }

  private async lookAtMigrations(): Promise<void> {
    const rows: { name: string }[] = await this.dataSource.query('SELECT name FROM migrations');
    const done = new Set(rows.map(({ name }) => name));
    const isDone = ({ name, constructor }: MigrationInterface) => done.has(name ?? constructor.name);
    if (!this.dataSource.migrations.every(isDone)) throw new Error('not done');
    this.isMigrated = true;
  }
}

import { Injectable } from '@nestjs/common';
import { DataSource, type MigrationInterface } from 'typeorm';
import { findSchemaDifferences } from '../database/migrations/schema-objects.js';

/** The queries of the readiness check. */
@Injectable()
export class ReadinessRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Whether the server is a standby; rejects if it does not respond. In SQL, because it reads no table. */
  async isStandby(): Promise<boolean> {
    const [row]: { standby: boolean }[] = await this.dataSource.query(
      'SELECT pg_is_in_recovery() AS standby',
    );
    return row!.standby;
  }

  /** Whether every migration of this build has run. */
  async isMigrated(): Promise<boolean> {
    const rows = await this.dataSource
      .createQueryBuilder()
      .select('migration.name', 'name')
      .from('migrations', 'migration')
      .getRawMany<{ name: string }>();
    const done = new Set(rows.map(({ name }) => name));
    const isDone = ({ name, constructor }: MigrationInterface) => done.has(name ?? constructor.name);
    return this.dataSource.migrations.every(isDone);
  }

  /** What the schema lacks, or has changed, of what the migrations of this build make. */
  schemaDifferences(): Promise<string[]> {
    return findSchemaDifferences((sql) => this.dataSource.query(sql));
  }
}

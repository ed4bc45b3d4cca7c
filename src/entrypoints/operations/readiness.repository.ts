import { Injectable } from '@nestjs/common';
import { DataSource, type MigrationInterface } from 'typeorm';
import { findSchemaDifferences } from '#platform/database/migrations/schema-objects.js';

/** The queries of the readiness check. */
@Injectable()
export class ReadinessRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Whether the server accepts writes, or why not: it is a standby, or the administrator has stopped them. Rejects if it does not
   * respond. In SQL, because it reads no table.
   */
  async writes(): Promise<'accepted' | 'standby' | 'stopped'> {
    const [row]: { standby: boolean; readOnly: boolean }[] = await this.dataSource.query(
      `SELECT pg_is_in_recovery() AS standby, current_setting('transaction_read_only') = 'on' AS "readOnly"`,
    );
    if (row!.standby) return 'standby';
    return row!.readOnly ? 'stopped' : 'accepted';
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

import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { LogExportEntity } from './log-export.entity.js';

/** Much longer than a batch takes, retries included. */
const LEASE_SECONDS = 60;

const SERVER = '(SELECT system_identifier::text FROM pg_control_system())';

/** A log that this instance sends, and the entry after which it continues; null: from the beginning. */
export type LeasedLog = Pick<LogExportEntity, 'log' | 'cursor'>;

@Injectable()
export class LogExportsRepository {
  constructor(@InjectRepository(LogExportEntity) private readonly exports: Repository<LogExportEntity>) {}

  /**
   * The logs that this instance sends: those that it already sends, and those whose lease has expired. A cursor counts only on
   * the server that made it: one that was restored into another numbers its transactions anew. One statement, which writes only
   * when a lease begins or half of it is over.
   */
  lease(instance: string): Promise<LeasedLog[]> {
    return this.exports.query(
      `WITH leased AS (
         UPDATE log_exports SET leased_by = $1, leased_until = now() + make_interval(secs => $2)
          WHERE leased_by = $1 AND leased_until <= now() + make_interval(secs => $2 / 2)
             OR leased_by IS DISTINCT FROM $1 AND (leased_until IS NULL OR leased_until <= now())
         RETURNING log, cursor, server
       )
       SELECT log, CASE WHEN server = ${SERVER} THEN cursor END AS cursor
         FROM (SELECT * FROM leased
               UNION ALL
               SELECT log, cursor, server FROM log_exports
                WHERE leased_by = $1 AND leased_until > now() + make_interval(secs => $2 / 2)) mine
        ORDER BY log`,
      [instance, LEASE_SECONDS],
    );
  }

  /** A collector has the entries up to the cursor; false if another instance sends this log by now. */
  async advance(instance: string, { log }: LeasedLog, cursor: string): Promise<boolean> {
    const [, changed]: [unknown[], number] = await this.exports.query(
      `UPDATE log_exports SET cursor = $3, server = ${SERVER}, leased_until = now() + make_interval(secs => $4)
        WHERE log = $2 AND leased_by = $1`,
      [instance, log, cursor, LEASE_SECONDS],
    );
    return changed === 1;
  }

  /** Lets another instance continue at once. */
  async release(instance: string): Promise<void> {
    await this.exports.update({ leasedBy: instance }, { leasedBy: null, leasedUntil: null });
  }
}

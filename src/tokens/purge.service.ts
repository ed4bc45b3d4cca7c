import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { setTimeout as rest } from 'node:timers/promises';
import { Interval } from '@nestjs/schedule';
import { Counter, Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings.js';
import { isLockTimeout, isStatementTimeout } from '../database/database-errors.js';
import { SchemaCompatibility } from '../database/schema-compatibility.service.js';
import { FIRST_BATCH, nextSize, restAfter, sizeAfterTimeout } from './purge-pace.js';
import { PURGE_TASKS, type PurgeTask } from './purge-tasks.js';

const PURGE_EVERY_MS = 60_000;
const POSTPONED_AT_ONCE = 1000;
const REST_AFTER_TIMEOUT_MS = 1_000;

const purgedRows = new Counter({
  name: 'purged_rows_total',
  help: 'Rows that were removed because they had expired, by table',
  labelNames: ['table'] as const,
});

const lastPurge = new Gauge({
  name: 'purge_last_success_timestamp_seconds',
  help: 'When this instance last removed all that had expired',
});

/** Some tables could not be purged completely; everything else was. The message names them and the reasons. */
class PurgeError extends Error {
  constructor(removed: number, failures: string[]) {
    super(`${removed} rows were removed, but not everything that has expired: ${failures.join('; ')}`);
  }
}

/** The result of one batch: the number of rows, and where the next batch continues. */
interface Batch {
  count: number;
  last: string | null;
}

/**
 * Removes expired rows, inside the service and on any number of instances at once. It works in small batches, each in its own
 * transaction, skips rows locked by another instance, and never counts rows. A batch does not wait for the disk: rows that a
 * crash brings back are removed again.
 */
@Injectable()
export class PurgeService implements BeforeApplicationShutdown {
  private readonly logger = new Logger(PurgeService.name);
  private running: Promise<void> | undefined;
  private readonly stopping = new AbortController();

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
    private readonly schema: SchemaCompatibility,
  ) {}

  /** Runs before the connection pool is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await this.running;
  }

  /** One run at a time. A failure is logged, and the next run tries again. */
  @Interval(PURGE_EVERY_MS)
  protected async purgeOnSchedule(): Promise<void> {
    if (this.running || this.stopping.signal.aborted || this.schema.isOutdated) return;
    this.running = this.purge()
      .then(() => undefined)
      .catch((error: Error) => this.logger.warn(`The purge stopped early: ${error.message}`))
      .finally(() => (this.running = undefined));
    await this.running;
  }

  /**
   * Deletes everything that can be purged and returns the number of rows. Throws a PurgeError at the end if a table could not be
   * purged.
   */
  async purge(): Promise<number> {
    const begun = performance.now();
    let removed = 0;
    const failures: string[] = [];
    await this.noteCommitted().catch((error: Error) => failures.push(`access_changes: ${error.message}`));
    await this.postponeUsedGrants().catch((error: Error) => failures.push(`grants: ${error.message}`));
    for (const task of PURGE_TASKS) {
      try {
        await this.deleteAll(task, begun, (count) => (removed += count));
      } catch (error) {
        failures.push(`${task.table}: ${(error as Error).message}`);
      }
    }
    if (failures.length > 0) throw new PurgeError(removed, failures);
    lastPurge.setToCurrentTime();
    return removed;
  }

  /**
   * Records when each change was committed at the latest. A change is stamped with the time of its statement, and tokens issued
   * between statement and commit did not see it. Changes from before a restore of the database mean nothing any more and are
   * deleted.
   */
  private async noteCommitted(): Promise<void> {
    await this.dataSource.query(
      `UPDATE access_changes SET committed_by = clock_timestamp() WHERE committed_by = 'infinity'`,
    );
    await this.dataSource.query(
      'DELETE FROM access_changes WHERE xid >= pg_snapshot_xmax(pg_current_snapshot())',
    );
  }

  /** Postpones the next look at a grant whose refresh token is still in use: one write per grant every month or two. */
  private async postponeUsedGrants(): Promise<void> {
    for (
      let postponed = POSTPONED_AT_ONCE;
      postponed === POSTPONED_AT_ONCE && !this.stopping.signal.aborted;
    ) {
      [, postponed] = await this.dataSource.query<[unknown[], number]>(
        `UPDATE grants SET look_again_at = refresh_expires_at WHERE id = ANY (ARRAY(
           SELECT id FROM grants
            WHERE look_again_at < now() - make_interval(days => $1)
              AND refresh_expires_at >= now() - make_interval(days => $1)
            ORDER BY look_again_at LIMIT ${POSTPONED_AT_ONCE} FOR NO KEY UPDATE SKIP LOCKED))`,
        [this.settings.retentionDays],
      );
    }
  }

  private async deleteBatch(task: PurgeTask, size: number, from: string): Promise<Batch> {
    const { table, before } = task;
    const [batch]: Batch[] = await this.dataSource.query(
      task.function ? functionSql(task.function, size) : deleteSql(task, size),
      before.includes('$2') ? [from, this.settings.retentionDays] : [from],
    );
    purgedRows.inc({ table }, batch!.count);
    return batch!;
  }

  /** `begun`: when the purge began, in milliseconds of the process's monotonic clock. */
  private async deleteAll(task: PurgeTask, begun: number, onRemoved: (count: number) => void): Promise<void> {
    let size = FIRST_BATCH;
    let from = '-infinity';
    while (!this.stopping.signal.aborted) {
      const batchBegun = performance.now();
      const batch = await this.deleteBatch(task, size, from).catch((error: unknown) => {
        if (!isStatementTimeout(error) && !isLockTimeout(error)) throw error;
        return error as Error;
      });
      const ended = performance.now();
      const took = ended - batchBegun;
      if (batch instanceof Error) {
        const smaller = sizeAfterTimeout(size);
        if (smaller === undefined) throw batch;
        size = smaller;
      } else {
        onRemoved(batch.count);
        if (batch.count < size) return;
        from = batch.last ?? from;
        size = nextSize(size, took);
      }
      const pause = batch instanceof Error ? REST_AFTER_TIMEOUT_MS : restAfter(took, ended - begun);
      await rest(pause, undefined, { signal: this.stopping.signal }).catch(() => undefined);
    }
  }
}

function deleteSql({ table, by, before, condition = 'true' }: PurgeTask, size: number): string {
  // Rows are deleted by their ctid, and are locked from the SELECT to the DELETE. The index scan starts where the last batch
  // ended, because index entries of deleted rows remain until vacuum.
  return `WITH going AS (
      SELECT t.ctid, ${by} AS at FROM ${table} t
       WHERE ${by} < ${before} AND ${by} >= $1 AND ${condition}
       ORDER BY ${by} LIMIT ${size} FOR UPDATE OF t SKIP LOCKED
    ), gone AS (
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM going)) RETURNING 1
    )
    SELECT (SELECT count(*) FROM gone)::int AS count, (SELECT max(at) FROM going)::text AS last,
           set_config('synchronous_commit', 'off', true)`;
}

const functionSql = (name: string, size: number): string =>
  `SELECT count, last::text, set_config('synchronous_commit', 'off', true) FROM ${name}($1, ${size})`;

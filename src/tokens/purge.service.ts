import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { setTimeout as rest } from 'node:timers/promises';
import { Interval } from '@nestjs/schedule';
import { Counter, Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings.js';
import { FIRST_BATCH, nextSize, restAfter } from './purge-pace.js';
import { PURGE_TASKS, SEALED_SUCCESSORS, type PurgeTask } from './purge-tasks.js';

const PURGE_EVERY_MS = 60_000;
// The sealed successor is of use for the grace time alone; erase it soon after.
const ERASE_EVERY_MS = 5_000;

const purgedRows = new Counter({
  name: 'purged_rows_total',
  help: 'Rows that were removed because they had expired, by table',
  labelNames: ['table'] as const,
});

const lastPurge = new Gauge({
  name: 'purge_last_success_timestamp_seconds',
  help: 'When this instance last removed all that had expired',
});

/** What one batch did: how many rows, and where the next one goes on. */
interface Batch {
  count: number;
  last: string | null;
}

/**
 * Removes what has expired, inside the service and in any number of instances at once: small batches, each its own
 * transaction, rows that another instance holds are left to it, and nothing is ever counted. Nor is a batch waited for
 * until it is on the disk: what a crash brings back is removed again.
 */
@Injectable()
export class PurgeService implements BeforeApplicationShutdown {
  private readonly logger = new Logger(PurgeService.name);
  private readonly running = new Map<string, Promise<void>>();
  private readonly stopping = new AbortController();

  constructor(
    private readonly dataSource: DataSource,
    private readonly settings: Settings,
  ) {}

  /** Before the pool of connections is closed. */
  async beforeApplicationShutdown(): Promise<void> {
    this.stopping.abort();
    await Promise.all(this.running.values());
  }

  @Interval(PURGE_EVERY_MS)
  protected purgeOnSchedule(): Promise<void> {
    return this.once('purge', () => this.purge());
  }

  @Interval(ERASE_EVERY_MS)
  protected eraseOnSchedule(): Promise<void> {
    return this.once('erasure', () => this.eraseSealedSuccessors());
  }

  /** Deletes all that may go; how many rows that were. */
  async purge(): Promise<number> {
    const begun = performance.now();
    let removed = 0;
    for (const task of PURGE_TASKS) removed += await this.deleteAll(task, begun);
    lastPurge.setToCurrentTime();
    return removed;
  }

  /** Erases the sealed successors whose grace time is over; how many those were. */
  eraseSealedSuccessors(): Promise<number> {
    return this.deleteAll(SEALED_SUCCESSORS, performance.now());
  }

  private async deleteBatch(
    { table, by, before, condition = 'true', join = '' }: PurgeTask,
    size: number,
    from: string,
  ): Promise<Batch> {
    // By their place in the table: they are held from the look to the removal. The index is entered where the last batch
    // left off, for what was removed stands in it until it is vacuumed.
    const [batch]: Batch[] = await this.dataSource.query(
      `WITH going AS (
         SELECT t.ctid, ${by} AS at FROM ${table} t ${join}
          WHERE ${by} < ${before} AND ${by} >= $1 AND ${condition}
          ORDER BY ${by} LIMIT ${size} FOR UPDATE OF t SKIP LOCKED
       ), gone AS (
         DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM going)) RETURNING 1
       )
       SELECT (SELECT count(*) FROM gone)::int AS count, (SELECT max(at) FROM going)::text AS last,
              set_config('synchronous_commit', 'off', true)`,
      before.includes('$2') ? [from, this.settings.retentionDays] : [from],
    );
    purgedRows.inc({ table }, batch!.count);
    return batch!;
  }

  /** `begun`: when the purge began, in milliseconds of the process's own clock. */
  private async deleteAll(task: PurgeTask, begun: number): Promise<number> {
    let total = 0;
    let size = FIRST_BATCH;
    let from = '-infinity';
    for (;;) {
      const batchBegun = performance.now();
      const { count, last } = await this.deleteBatch(task, size, from);
      const ended = performance.now();
      total += count;
      if (count < size || this.stopping.signal.aborted) return total;
      from = last ?? from;
      const took = ended - batchBegun;
      size = nextSize(size, took);
      const pause = restAfter(took, ended - begun);
      await rest(pause, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
    }
  }

  /** One run at a time; a failure is logged and the next run tries again. */
  private async once(name: string, work: () => Promise<number>): Promise<void> {
    if (this.running.has(name) || this.stopping.signal.aborted) return;
    const run = work()
      .then(() => undefined)
      .catch((error: Error) => this.logger.warn(`The ${name} stopped early: ${error.message}`))
      .finally(() => this.running.delete(name));
    this.running.set(name, run);
    await run;
  }
}

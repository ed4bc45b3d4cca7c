import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { setTimeout as rest } from 'node:timers/promises';
import { Interval } from '@nestjs/schedule';
import { Counter, Gauge } from 'prom-client';
import { DataSource } from 'typeorm';
import { Settings } from '../config/settings.js';
import { PURGE_TASKS, SEALED_SUCCESSORS, type PurgeTask } from './purge-tasks.js';

// A batch is made larger or smaller so that it takes about this long, and after it the purge rests for a multiple of it.
const BATCH_MS = 20;
const LEAST = 20;
const FIRST = 250;
const MOST = 1000;
const REST = 9;
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
 * transaction, rows that another instance holds are left to it, and nothing is ever counted. It takes a tenth of one
 * connection at the most, so that what is asked for meanwhile hardly notices.
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
    let removed = 0;
    for (const task of PURGE_TASKS) {
      removed += await this.inBatches((size, from) => this.deleteBatch(task, size, from));
    }
    lastPurge.setToCurrentTime();
    return removed;
  }

  /** Erases the sealed successors whose grace time is over; how many those were. */
  eraseSealedSuccessors(): Promise<number> {
    return this.inBatches((size, from) => this.deleteBatch(SEALED_SUCCESSORS, size, from));
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
       SELECT (SELECT count(*) FROM gone)::int AS count, (SELECT max(at) FROM going)::text AS last`,
      before.includes('$2') ? [from, this.settings.retentionDays] : [from],
    );
    purgedRows.inc({ table }, batch!.count);
    return batch!;
  }

  private async inBatches(run: (size: number, from: string) => Promise<Batch>): Promise<number> {
    let total = 0;
    let size = FIRST;
    let from = '-infinity';
    for (;;) {
      const begun = performance.now();
      const { count, last } = await run(size, from);
      const took = performance.now() - begun;
      total += count;
      if (count < size || this.stopping.signal.aborted) return total;
      from = last ?? from;
      size = Math.round(Math.min(MOST, Math.max(LEAST, (size * BATCH_MS) / took, size / 2)));
      await rest(took * REST, undefined, { signal: this.stopping.signal, ref: false }).catch(() => undefined);
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

import { Injectable } from '@nestjs/common';
import { setTimeout as rest } from 'node:timers/promises';
import { Counter, Gauge } from 'prom-client';
import { Settings } from '#platform/config/settings.js';
import { DomainQuestions } from '../domain/domain-questions.service.js';
import { isLockTimeout, isStatementTimeout } from '../queries/database-errors.js';
import { PeriodicWorker } from '../background/periodic-worker.js';
import { SchemaCompatibility } from '../migrations/schema-compatibility.service.js';
import { PurgeRepository } from './purge.repository.js';
import { inOrder, type PurgePreparation, type PurgeTask } from './purge-tasks.js';

// The batch size is adjusted so that a batch takes about this long.
const BATCH_MS = 20;
const LEAST = 20;
const MOST = 1000;
// The purge uses a twentieth of one connection's time, so that other queries hardly notice ...
const REST = 19;
// ... and a fifth of it after this time, so that a slow purge can catch up.
const PATIENCE_MS = 600_000;
const REST_WHEN_LATE = 4;

/** The number of rows of the first batch. */
const FIRST_BATCH = 250;

/** The number of rows of the next batch, after one of `size` rows that took `took` milliseconds. */
export function nextSize(size: number, took: number): number {
  // After a batch that was too large, grow again slowly.
  const least = Math.min(LEAST, size * 2);
  return Math.round(Math.min(MOST, Math.max(least, (size * BATCH_MS) / took, size / 2)));
}

/** The number of rows to try after a batch of `size` rows hit the statement timeout; undefined if it cannot be smaller. */
function sizeAfterTimeout(size: number): number | undefined {
  return size === 1 ? undefined : Math.ceil(size / 10);
}

/** Milliseconds to rest after a batch that took `took` milliseconds, in a purge that began `since` milliseconds ago. */
export function restAfter(took: number, since: number): number {
  return took * (since < PATIENCE_MS ? REST : REST_WHEN_LATE);
}

const PREPARED_AT_ONCE = 1000;
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

/**
 * Removes expired rows, inside the service and on any number of instances at once. It works in small batches, each in its own
 * transaction, skips rows locked by another instance, and never counts rows.
 */
@Injectable()
export class PurgeService extends PeriodicWorker {
  constructor(
    private readonly repository: PurgeRepository,
    private readonly questions: DomainQuestions,
    settings: Settings,
    schema: SchemaCompatibility,
  ) {
    super({ everyMs: 60_000, failure: 'The purge stopped early' }, settings, schema);
  }

  protected work(): Promise<number> {
    return this.purge();
  }

  /**
   * Deletes everything that can be purged and returns the number of rows. Throws a PurgeError at the end if a table could not be
   * purged.
   */
  async purge(): Promise<number> {
    const begun = performance.now();
    let removed = 0;
    const failures: string[] = [];
    const attempt = (table: string, work: Promise<void>): Promise<unknown> =>
      work.catch((error: Error) => failures.push(`${table}: ${error.message}`));
    await attempt('access_changes', this.noteChanges());
    for (const preparation of this.asked().filter((each) => 'runBatch' in each)) {
      await attempt(preparation.table, this.prepare(preparation));
    }
    for (const task of this.tasks()) {
      const onRemoved = (count: number) => {
        removed += count;
        purgedRows.inc({ table: task.table }, count);
      };
      await attempt(
        task.table,
        task.partitions
          ? this.turnPartitions(task.partitions, onRemoved)
          : this.deleteAll(task, begun, onRemoved),
      );
    }
    if (failures.length > 0) throw new PurgeError(removed, failures);
    lastPurge.setToCurrentTime();
    return removed;
  }

  /** All that is deleted, in its order. */
  tasks(): PurgeTask[] {
    return inOrder(this.asked().flatMap((each) => ('runBatch' in each ? [] : [each])));
  }

  private asked(): (PurgeTask | PurgePreparation)[] {
    return this.questions.askAll('purge.tasks').flat();
  }

  private async noteChanges(): Promise<void> {
    await this.repository.noteCommittedChanges();
    await this.repository.deleteLostChanges();
  }

  private async prepare(preparation: PurgePreparation): Promise<void> {
    let changed = PREPARED_AT_ONCE;
    while (changed === PREPARED_AT_ONCE && !this.stopping.signal.aborted) {
      changed = await preparation.runBatch(this.settings.retentionDays, PREPARED_AT_ONCE);
    }
  }

  private async turnPartitions(call: string, onRemoved: (count: number) => void): Promise<void> {
    onRemoved(await this.repository.turnPartitions(call));
  }

  /** `begun`: when the purge began, in milliseconds of the process's monotonic clock. */
  private async deleteAll(task: PurgeTask, begun: number, onRemoved: (count: number) => void): Promise<void> {
    let size = FIRST_BATCH;
    let from = '-infinity';
    while (!this.stopping.signal.aborted) {
      const batchBegun = performance.now();
      const batch = await this.repository
        .deleteBatch(task, size, from, this.settings.retentionDays)
        .catch((error: unknown) => {
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

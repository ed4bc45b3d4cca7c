import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { AccessChangeEntity } from '../changes/access-change.entity.js';
import type { PurgeTask } from './purge-tasks.js';

/** The result of one batch: the number of rows, and where the next batch continues. */
export interface PurgedBatch {
  count: number;
  last: string | null;
}

@Injectable()
export class PurgeRepository {
  constructor(
    @InjectRepository(AccessChangeEntity) private readonly changes: Repository<AccessChangeEntity>,
  ) {}

  /**
   * Records when each change was committed at the latest. A change is stamped with the time of its statement, and tokens issued
   * between statement and commit did not see it. Skips rows that another instance is updating.
   */
  async noteCommittedChanges(): Promise<void> {
    const open = this.changes
      .createQueryBuilder('change')
      .select('change.id')
      .where("change.committedBy = 'infinity'")
      .setLock('for_no_key_update')
      .setOnLocked('skip_locked');
    await this.changes
      .createQueryBuilder()
      .update()
      .set({ committedBy: () => 'clock_timestamp()' })
      .where(`id = ANY (ARRAY(${open.getQuery()}))`)
      .execute();
  }

  /** Deletes changes from before a restore of the database, which are meaningless now. */
  async deleteLostChanges(): Promise<void> {
    await this.changes
      .createQueryBuilder()
      .delete()
      .where('xid >= pg_snapshot_xmax(pg_current_snapshot())')
      .execute();
  }

  /**
   * Deletes up to `size` rows of a task, from a value of its column on. In SQL, because it finds rows of any module's table by
   * their position and skips locked ones.
   */
  async deleteBatch(
    task: PurgeTask,
    size: number,
    from: string,
    retentionDays: number,
  ): Promise<PurgedBatch> {
    const [batch]: PurgedBatch[] = await this.changes.manager.query(
      task.function ? functionSql(task.function, size) : deleteSql(task, size),
      task.before?.includes('$2') ? [from, retentionDays] : [from],
    );
    return batch!;
  }

  /** Creates and drops the partitions of a task; returns roughly how many rows were dropped. */
  async turnPartitions(call: string): Promise<number> {
    const [turned]: { count: number }[] = await this.changes.manager.query(`SELECT ${call}::float8 AS count`);
    return turned!.count;
  }
}

function deleteSql({ table, by, before = 'now()', condition = 'true' }: PurgeTask, size: number): string {
  // Rows are deleted by their ctid, and are locked from the SELECT to the DELETE. The index scan starts where the last batch
  // ended, because index entries of deleted rows remain until vacuum.
  return `WITH going AS (
      SELECT t.ctid, t.${by} AS at FROM ${table} t
       WHERE t.${by} < ${before} AND t.${by} >= $1 AND ${condition}
       ORDER BY t.${by} LIMIT ${size} FOR UPDATE OF t SKIP LOCKED
    ), gone AS (
      DELETE FROM ${table} WHERE ctid = ANY (ARRAY(SELECT ctid FROM going)) RETURNING 1
    )
    SELECT (SELECT count(*) FROM gone)::int AS count, (SELECT max(at) FROM going)::text AS last`;
}

const functionSql = (name: string, size: number): string =>
  `SELECT count, last::text FROM ${name}($1, ${size})`;

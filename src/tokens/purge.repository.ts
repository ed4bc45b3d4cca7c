import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import type { Repository } from 'typeorm';
import { AccessChangeEntity } from './access-change.entity.js';
import { GrantEntity } from './grant.entity.js';
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
    @InjectRepository(GrantEntity) private readonly grants: Repository<GrantEntity>,
  ) {}

  /**
   * Records when each change was committed at the latest. A change is stamped with the time of its statement, and tokens issued
   * between statement and commit did not see it. Passes over rows that another instance is noting.
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

  /** Deletes changes from before a restore of the database, which mean nothing any more. */
  async deleteLostChanges(): Promise<void> {
    await this.changes
      .createQueryBuilder()
      .delete()
      .where('xid >= pg_snapshot_xmax(pg_current_snapshot())')
      .execute();
  }

  /**
   * Postpones the next look at up to `limit` grants whose refresh token is still in use, and returns their number. In SQL,
   * because it passes over rows that others hold.
   */
  async postponeUsedGrants(retentionDays: number, limit: number): Promise<number> {
    const [, postponed]: [unknown[], number] = await this.grants.query(
      `UPDATE grants SET look_again_at = refresh_expires_at WHERE id = ANY (ARRAY(
         SELECT id FROM grants
          WHERE look_again_at < now() - make_interval(days => $1)
            AND refresh_expires_at >= now() - make_interval(days => $1)
          ORDER BY look_again_at LIMIT ${limit} FOR NO KEY UPDATE SKIP LOCKED))`,
      [retentionDays],
    );
    return postponed;
  }

  /**
   * Deletes up to `size` rows of a task, from a value of its column on. In SQL, because it finds rows of any module's table by
   * their position and passes over those that others hold.
   */
  async deleteBatch(
    task: PurgeTask,
    size: number,
    from: string,
    retentionDays: number,
  ): Promise<PurgedBatch> {
    const [batch]: PurgedBatch[] = await this.grants.manager.query(
      task.function ? functionSql(task.function, size) : deleteSql(task, size),
      task.before.includes('$2') ? [from, retentionDays] : [from],
    );
    return batch!;
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
    SELECT (SELECT count(*) FROM gone)::int AS count, (SELECT max(at) FROM going)::text AS last`;
}

const functionSql = (name: string, size: number): string =>
  `SELECT count, last::text FROM ${name}($1, ${size})`;

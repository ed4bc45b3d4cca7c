import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { SETTLED_BELOW, type CommitPlace } from '#platform/database/queries/in-order-of-commits.js';
import { readPage, type Page, type PageRequest } from '#platform/database/queries/read-page.js';
import { firstIdAt } from '#platform/secrets/ids.js';
import { AuditEventEntity } from './audit-event.entity.js';

// Ids contain an instance's time, which may differ from the database's by less than this.
const CLOCKS_APART_MS = 10 * 60_000;

/** Rows per statement, because a statement takes at most 65,535 parameters. */
const INSERTED_AT_ONCE = 1_000;

/** All given members must match; `since` is inclusive. */
export interface AuditFilter {
  actor?: string;
  subject?: string;
  /** What was done to this subject is left out. */
  exceptOn?: string;
  action?: string;
  requestId?: string;
  since?: Date;
}

/** Entries after a position, in the order of their commits; `isAhead` if no transaction has reached the position yet. */
export interface AuditLook {
  isAhead: boolean;
  entries: { place: CommitPlace; row: AuditEventEntity }[];
}

@Injectable()
export class AuditRepository {
  constructor(@InjectRepository(AuditEventEntity) private readonly events: Repository<AuditEventEntity>) {}

  /** Inserts them; their ids and times are the database's. */
  async insertAll(events: readonly Omit<AuditEventEntity, 'id' | 'occurredAt'>[]): Promise<void> {
    // TypeORM's deep partial of a JSON column requires a plain object type.
    const rows = events.map(({ before, after, ...event }) => ({
      ...event,
      ...{ before: before as object, after: after as object },
    }));
    for (let from = 0; from < rows.length; from += INSERTED_AT_ONCE) {
      await this.events.insert(rows.slice(from, from + INSERTED_AT_ONCE));
    }
  }

  /** One page of the log, newest first. */
  list(
    { actor, subject, exceptOn, action, requestId, since }: AuditFilter,
    page: PageRequest,
  ): Promise<Page<AuditEventEntity>> {
    const query = this.events.createQueryBuilder('event');
    if (actor !== undefined) query.andWhere('event.actorId = :actor', { actor });
    if (subject !== undefined) query.andWhere('event.subjectId = :subject', { subject });
    if (exceptOn !== undefined) query.andWhere('event.subjectId <> :exceptOn', { exceptOn });
    if (action !== undefined) query.andWhere('event.action = :action', { action });
    if (requestId !== undefined) query.andWhere('event.requestId = :requestId', { requestId });
    if (since !== undefined) {
      // Also by id, because ids are ordered by time: otherwise a recent time would read the whole log.
      const earliest = firstIdAt('audt', new Date(since.getTime() - CLOCKS_APART_MS));
      query.andWhere('event.occurredAt >= :since AND event.id >= :earliest', { since, earliest });
    }
    return readPage(page, 'event.id', 'desc', query);
  }

  /** The actions that occur in the log, by name, up to a limit; each is found through the index. */
  async actions(limit: number): Promise<string[]> {
    const rows: { action: string }[] = await this.events.query(
      `WITH RECURSIVE found AS (
         (SELECT action FROM audit_events ORDER BY action LIMIT 1)
         UNION ALL
         SELECT (SELECT e.action FROM audit_events e WHERE e.action > f.action ORDER BY e.action LIMIT 1)
           FROM found f WHERE f.action IS NOT NULL
       )
       SELECT action FROM found WHERE action IS NOT NULL LIMIT $1`,
      [limit],
    );
    return rows.map(({ action }) => action);
  }

  /**
   * Up to `limit` entries after a position, in the order of their commits: an entry is only returned when every transaction that
   * began writing earlier has ended. In SQL: TypeORM does not support `xid8`.
   */
  async after({ xid, id }: CommitPlace, limit: number): Promise<AuditLook> {
    const rows: (AuditEventEntity & { xid: string | null; isAhead: boolean })[] = await this.events.query(
      `SELECT s.ahead AS "isAhead", e.xid::text AS xid, e.id, e.occurred_at AS "occurredAt", e.actor_type AS "actorType",
              e.actor_id AS "actorId", e.action, e.subject_type AS "subjectType", e.subject_id AS "subjectId",
              e.address, e.request_id AS "requestId", e.before, e.after
         FROM (SELECT $1::xid8 >= pg_snapshot_xmax(pg_current_snapshot()) AS ahead) s
         LEFT JOIN LATERAL (
           SELECT * FROM audit_events
            WHERE (xid, id) > ($1::xid8, $2::text) AND xid < ${SETTLED_BELOW}
            ORDER BY xid, id LIMIT $3
         ) e ON true
        ORDER BY e.xid, e.id`,
      [xid, id, limit],
    );
    const entries = rows.flatMap(({ isAhead: _, xid: number, ...event }) =>
      number === null ? [] : [{ place: { xid: number, id: event.id }, row: event }],
    );
    return { isAhead: rows[0]!.isAhead, entries };
  }

  /** Entries from a restored database with transaction numbers that this server has not reached yet get lower numbers. */
  async adoptRestored(): Promise<void> {
    await this.events.query('SELECT adopt_restored_audit_events()');
  }
}

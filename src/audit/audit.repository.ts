import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, type EntityManager } from 'typeorm';
import { readPage, type Page, type PageRequest } from '../database/queries/read-page.js';
import { firstIdAt } from '../secrets/ids.js';
import { AuditEventEntity } from './audit-event.entity.js';

// Ids can be made slightly before or after the database's time. Clocks that differ by less than this are handled.
const CLOCKS_APART_MS = 10 * 60_000;

/** Rows of one statement, which takes at most 65,535 parameters. */
const INSERTED_AT_ONCE = 1_000;

/** All given members must match; `since` is inclusive. */
export interface AuditFilter {
  actor?: string;
  subject?: string;
  action?: string;
  requestId?: string;
  since?: Date;
}

@Injectable()
export class AuditRepository {
  constructor(@InjectRepository(AuditEventEntity) private readonly events: Repository<AuditEventEntity>) {}

  /** Inserts them; their ids and times are the database's. */
  async insertAll(
    manager: EntityManager,
    events: readonly Omit<AuditEventEntity, 'id' | 'occurredAt'>[],
  ): Promise<void> {
    // TypeORM's deep partial of a JSON column requires a plain object type.
    const rows = events.map(({ before, after, ...event }) => ({
      ...event,
      ...{ before: before as object, after: after as object },
    }));
    for (let from = 0; from < rows.length; from += INSERTED_AT_ONCE) {
      await manager.withRepository(this.events).insert(rows.slice(from, from + INSERTED_AT_ONCE));
    }
  }

  /** One page of the log, newest first. */
  list(
    { actor, subject, action, requestId, since }: AuditFilter,
    page: PageRequest,
  ): Promise<Page<AuditEventEntity>> {
    const query = this.events.createQueryBuilder('event');
    if (actor !== undefined) query.andWhere('event.actorId = :actor', { actor });
    if (subject !== undefined) query.andWhere('event.subjectId = :subject', { subject });
    if (action !== undefined) query.andWhere('event.action = :action', { action });
    if (requestId !== undefined) query.andWhere('event.requestId = :requestId', { requestId });
    if (since !== undefined) {
      // Also by id, because ids are ordered by time: otherwise a recent time would read the whole log.
      const earliest = firstIdAt('audt', new Date(since.getTime() - CLOCKS_APART_MS));
      query.andWhere('event.occurredAt >= :since AND event.id >= :earliest', { since, earliest });
    }
    return readPage(page, 'event.id', 'desc', query);
  }
}

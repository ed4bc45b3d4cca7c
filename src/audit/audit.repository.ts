import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { readPageBySql, type Page, type PageRequest } from '../http/paging.js';
import { firstIdAt } from '../secrets/ids.js';
import { AuditEventEntity } from './audit-event.entity.js';

// Ids can be made slightly before or after the database's time. Clocks that differ by less than this are handled.
const CLOCKS_APART_MS = 10 * 60_000;

/** All given members must match; `since` is inclusive. */
export interface AuditFilter {
  actor?: string;
  subject?: string;
  action?: string;
  since?: Date;
}

@Injectable()
export class AuditRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** One page of the log, newest first. */
  async list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEventEntity>> {
    return readPageBySql(page, 'id', 'desc', async (part) => {
      const params: unknown[] = [];
      const { where, orderAndLimit } = part(params);
      const conditions = [
        ...(filter.actor === undefined ? [] : [`actor_id = $${params.push(filter.actor)}`]),
        ...(filter.subject === undefined ? [] : [`subject_id = $${params.push(filter.subject)}`]),
        ...(filter.action === undefined ? [] : [`action = $${params.push(filter.action)}`]),
        ...(filter.since === undefined ? [] : sinceSql(params, filter.since)),
        where,
      ];
      const rows: { id: string }[] = await this.dataSource.query(
        `SELECT id, occurred_at AS "occurredAt", actor_type AS "actorType", actor_id AS "actorId", action,
                subject_type AS "subjectType", subject_id AS "subjectId", address, request_id AS "requestId", before, after
           FROM audit_events WHERE ${conditions.join(' AND ')} ${orderAndLimit}`,
        params,
      );
      return rows.map((row) => this.dataSource.manager.create(AuditEventEntity, row));
    });
  }
}

/** Also filters by id, because ids are ordered by time: otherwise a recent time would read the whole log. */
function sinceSql(params: unknown[], since: Date): string[] {
  const earliest = firstIdAt('audt', new Date(since.getTime() - CLOCKS_APART_MS));
  return [`occurred_at >= $${params.push(since)}`, `id >= $${params.push(earliest)}`];
}

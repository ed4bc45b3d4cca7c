import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { pageOf, type Page, type PageRequest } from '../http/paging.js';
import { AuditEventEntity } from './audit-event.entity.js';

/** Every member narrows the list; `since` is inclusive. */
export interface AuditFilter {
  actor?: string;
  subject?: string;
  action?: string;
  since?: Date;
}

@Injectable()
export class AuditRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** One page of the trail, newest first. */
  async list(filter: AuditFilter, page: PageRequest): Promise<Page<AuditEventEntity>> {
    const backwards = page.before !== undefined;
    const query = this.dataSource
      .getRepository(AuditEventEntity)
      .createQueryBuilder('event')
      .orderBy('event.id', backwards ? 'ASC' : 'DESC')
      .limit(page.size + 1);
    if (filter.actor !== undefined) query.andWhere('event.actorId = :actor', { actor: filter.actor });
    if (filter.subject !== undefined)
      query.andWhere('event.subjectId = :subject', { subject: filter.subject });
    if (filter.action !== undefined) query.andWhere('event.action = :action', { action: filter.action });
    if (filter.since !== undefined) query.andWhere('event.occurredAt >= :since', { since: filter.since });
    if (page.after !== undefined) query.andWhere('event.id < :after', { after: page.after });
    if (page.before !== undefined) query.andWhere('event.id > :before', { before: page.before });
    return pageOf(page, await query.getMany());
  }
}

import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { pageOf, type Page, type PageRequest } from '../http/paging.js';
import { NotificationEntity } from './notification.entity.js';

/** Every member narrows. */
export interface NotificationFilter {
  userId?: string;
  clientId?: string;
}

@Injectable()
export class NotificationsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** One page, newest first. */
  async list(filter: NotificationFilter, page: PageRequest): Promise<Page<NotificationEntity>> {
    const query = this.dataSource
      .getRepository(NotificationEntity)
      .createQueryBuilder('notification')
      .orderBy('notification.id', page.before === undefined ? 'DESC' : 'ASC')
      .limit(page.size + 1);
    if (filter.userId !== undefined) query.andWhere('notification.userId = :userId', filter);
    if (filter.clientId !== undefined) query.andWhere('notification.clientId = :clientId', filter);
    if (page.after !== undefined) query.andWhere('notification.id < :after', { after: page.after });
    if (page.before !== undefined) query.andWhere('notification.id > :before', { before: page.before });
    return pageOf(page, await query.getMany());
  }

  find(
    id: string,
    filter: NotificationFilter,
    manager: EntityManager = this.dataSource.manager,
  ): Promise<NotificationEntity | null> {
    return manager.findOneBy(NotificationEntity, { id, ...filter });
  }

  /** Sets `read_at` and `resolved_at` once; what is set already stays. */
  async mark(id: string, { read, resolved }: { read: boolean; resolved: boolean }): Promise<void> {
    await this.dataSource.query(
      `UPDATE notifications
          SET read_at = CASE WHEN $2 THEN coalesce(read_at, now()) ELSE read_at END,
              resolved_at = CASE WHEN $3 THEN coalesce(resolved_at, now()) ELSE resolved_at END
        WHERE id = $1`,
      [id, read, resolved],
    );
  }

  /** Resolves what is due; how many those were, at most `limit`. */
  async resolveDue(limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await this.dataSource.query(
      `UPDATE notifications SET resolved_at = resolve_at WHERE id IN (
         SELECT id FROM notifications WHERE resolve_at <= now() AND resolved_at IS NULL LIMIT $1 FOR UPDATE SKIP LOCKED)`,
      [limit],
    );
    return count;
  }
}

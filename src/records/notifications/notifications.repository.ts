import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { readPage, type Page, type PageRequest } from '#platform/database/queries/read-page.js';
import { NotificationEntity } from './notification.entity.js';

/** What is set of a notification. */
export interface Marks {
  read: boolean;
  resolved: boolean;
}

/** All given members must match. */
export interface NotificationFilter {
  userId?: string;
  clientId?: string;
}

@Injectable()
export class NotificationsRepository {
  constructor(
    @InjectRepository(NotificationEntity) private readonly notifications: Repository<NotificationEntity>,
  ) {}

  /** One page, newest first. */
  list({ userId, clientId }: NotificationFilter, page: PageRequest): Promise<Page<NotificationEntity>> {
    const query = this.notifications.createQueryBuilder('notification');
    if (userId !== undefined) query.andWhere('notification.userId = :userId', { userId });
    if (clientId !== undefined) query.andWhere('notification.clientId = :clientId', { clientId });
    return readPage(page, 'notification.id', 'desc', query);
  }

  find(id: string, filter: NotificationFilter): Promise<NotificationEntity | null> {
    return this.notifications.findOneBy({ id, ...filter });
  }

  /** Inserts it; without an event time, the event is now. */
  async insert(notification: Partial<NotificationEntity>): Promise<void> {
    await this.notifications.insert({
      ...notification,
      eventTime: notification.eventTime ?? (() => 'now()'),
    });
  }

  /** Sets `read_at` and `resolved_at` once and keeps existing values. Returns what was set; undefined if there is nothing to set. */
  async mark(id: string, { read, resolved }: Marks): Promise<Marks | undefined> {
    const { raw } = await this.notifications
      .createQueryBuilder()
      .update()
      .set({
        readAt: () => 'CASE WHEN :read THEN coalesce(read_at, now()) ELSE read_at END',
        resolvedAt: () => 'CASE WHEN :resolved THEN coalesce(resolved_at, now()) ELSE resolved_at END',
      })
      .where('id = :id AND ((:read AND readAt IS NULL) OR (:resolved AND resolvedAt IS NULL))')
      .setParameters({ id, read, resolved })
      .returning('coalesce(read_at = now(), false) AS read, coalesce(resolved_at = now(), false) AS resolved')
      .execute();
    return (raw as Marks[])[0];
  }

  /** Sets `read_at` of the user's unread ones up to this id; returns their ids. */
  async markReadUpTo(id: string, userId: string): Promise<string[]> {
    const { raw } = await this.notifications
      .createQueryBuilder()
      .update()
      .set({ readAt: () => 'now()' })
      .where('userId = :userId AND id <= :id AND readAt IS NULL', { userId, id })
      .returning('id')
      .execute();
    return (raw as { id: string }[]).map((each) => each.id);
  }

  /** Resolves up to `limit` due notifications; returns their number. In SQL, because it skips locked rows. */
  async resolveDue(limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await this.notifications.query(
      `UPDATE notifications SET resolved_at = resolve_at WHERE id IN (
         SELECT id FROM notifications WHERE resolve_at <= now() AND resolved_at IS NULL LIMIT $1 FOR UPDATE SKIP LOCKED)`,
      [limit],
    );
    return count;
  }
}

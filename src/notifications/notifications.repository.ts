import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { readPageBySql, type Page, type PageRequest } from '../http/paging.js';
import { NotificationEntity } from './notification.entity.js';

const COLUMNS = `id, user_id AS "userId", client_id AS "clientId", message_id AS "messageId", category,
  event_time AS "eventTime", short_text_title AS "shortTextTitle", short_text_body AS "shortTextBody",
  detail_page_title AS "detailPageTitle", detail_page_body AS "detailPageBody", external_link AS "externalLink",
  external_button_label AS "externalButtonLabel", read_at AS "readAt", resolved_at AS "resolvedAt",
  resolve_at AS "resolveAt"`;

/** All given members must match. */
export interface NotificationFilter {
  userId?: string;
  clientId?: string;
}

@Injectable()
export class NotificationsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** One page, newest first. */
  async list(filter: NotificationFilter, page: PageRequest): Promise<Page<NotificationEntity>> {
    return readPageBySql(page, 'id', 'desc', async (part) => {
      const params: unknown[] = [];
      const { where, orderAndLimit } = part(params);
      const user = filter.userId === undefined ? 'true' : `user_id = $${params.push(filter.userId)}`;
      const client = filter.clientId === undefined ? 'true' : `client_id = $${params.push(filter.clientId)}`;
      const rows: { id: string }[] = await this.dataSource.query(
        `SELECT ${COLUMNS} FROM notifications WHERE ${user} AND ${client} AND ${where} ${orderAndLimit}`,
        params,
      );
      return rows.map((row) => this.dataSource.manager.create(NotificationEntity, row));
    });
  }

  find(
    id: string,
    filter: NotificationFilter,
    manager: EntityManager = this.dataSource.manager,
  ): Promise<NotificationEntity | null> {
    return manager.findOneBy(NotificationEntity, { id, ...filter });
  }

  /** Sets `read_at` and `resolved_at` once and keeps existing values. False if there is nothing to set. */
  async mark(
    manager: EntityManager,
    id: string,
    { read, resolved }: { read: boolean; resolved: boolean },
  ): Promise<boolean> {
    const [, count]: [unknown[], number] = await manager.query(
      `UPDATE notifications
          SET read_at = CASE WHEN $2 THEN coalesce(read_at, now()) ELSE read_at END,
              resolved_at = CASE WHEN $3 THEN coalesce(resolved_at, now()) ELSE resolved_at END
        WHERE id = $1 AND (($2 AND read_at IS NULL) OR ($3 AND resolved_at IS NULL))`,
      [id, read, resolved],
    );
    return count === 1;
  }

  /** Resolves up to `limit` due notifications; returns their number. */
  async resolveDue(limit: number): Promise<number> {
    const [, count]: [unknown[], number] = await this.dataSource.query(
      `UPDATE notifications SET resolved_at = resolve_at WHERE id IN (
         SELECT id FROM notifications WHERE resolve_at <= now() AND resolved_at IS NULL LIMIT $1 FOR UPDATE SKIP LOCKED)`,
      [limit],
    );
    return count;
  }
}

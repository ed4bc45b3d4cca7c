import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository, Column, Entity, PrimaryColumn } from 'typeorm';
import type { Message } from '#records/notifications/message-catalogue.js';
import { storedTexts } from '#records/notifications/notification-texts.js';
import { NotificationEntity } from '#records/notifications/notification.entity.js';

/** A period in which a client and user exceeded their rate limit; its refusals show one notification. */
@Entity('rate_limit_periods')
export class RateLimitPeriodEntity {
  @PrimaryColumn('text') clientId!: string;
  @PrimaryColumn('text') userId!: string;
  @Column('text') notificationId!: string;
  @Column('timestamptz') endsAt!: Date;
}

/** The notification of the current period, and its remaining seconds. */
export interface PeriodNotification {
  notification: NotificationEntity;
  seconds: number;
}

@Injectable()
export class RateLimitNotificationsRepository {
  constructor(
    @InjectRepository(RateLimitPeriodEntity) private readonly periods: Repository<RateLimitPeriodEntity>,
  ) {}

  /**
   * Opens a period and creates its notification, unless a period is open. In SQL, because one statement writes both tables: of
   * many concurrent refusals on any instance only one creates it.
   */
  async open(id: string, clientId: string, userId: string, message: Message, seconds: number): Promise<void> {
    const texts = storedTexts(message);
    await this.periods.query(
      `WITH period AS (
         INSERT INTO rate_limit_periods AS p (client_id, user_id, notification_id, ends_at)
         VALUES ($2, $3, $1, now() + make_interval(secs => $4))
         ON CONFLICT (client_id, user_id) DO UPDATE
           SET notification_id = excluded.notification_id, ends_at = excluded.ends_at
         WHERE p.ends_at <= now()
         RETURNING notification_id, ends_at
       )
       INSERT INTO notifications (id, client_id, user_id, resolve_at, message_id, category, short_text_title,
                                  short_text_body, detail_page_title, detail_page_body, messages)
       SELECT notification_id, $2, $3, ends_at, $5, $6, $7, $8, $9, $10, $11 FROM period`,
      [
        id,
        clientId,
        userId,
        seconds,
        message.messageId,
        message.category,
        texts.shortTextTitle,
        texts.shortTextBody,
        texts.detailPageTitle,
        texts.detailPageBody,
        JSON.stringify(texts.messages),
      ],
    );
  }

  /** The periods of a user, newest first, up to a limit. */
  listOf(userId: string, limit: number): Promise<RateLimitPeriodEntity[]> {
    return this.periods.find({ where: { userId }, order: { endsAt: 'DESC' }, take: limit });
  }

  /** The notification of the current period, and its remaining seconds, in one statement. */
  async find(clientId: string, userId: string): Promise<PeriodNotification | undefined> {
    const { entities, raw } = await this.periods.manager
      .createQueryBuilder(NotificationEntity, 'notification')
      .innerJoin(RateLimitPeriodEntity, 'period', 'period.notificationId = notification.id')
      .addSelect('extract(epoch FROM period.endsAt - now())::float8', 'seconds')
      .where('period.clientId = :clientId AND period.userId = :userId AND period.endsAt > now()', {
        clientId,
        userId,
      })
      .getRawAndEntities<{ seconds: number }>();
    return entities[0] && { notification: entities[0], seconds: raw[0]!.seconds };
  }
}

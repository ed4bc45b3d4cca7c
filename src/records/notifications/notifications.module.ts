import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '#records/audit/audit.module.js';
import { MailModule } from '#records/mail/mail.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { NotificationEntity } from './notification.entity.js';
import { NotificationsRepository } from './notifications.repository.js';
import { NotificationsService, DueNotificationsWorker } from './notifications.service.js';
import { RETENTION, type PurgeTask } from '#platform/database/purge/purge-tasks.js';

const NOTHING_TO_DO = "t.resolved_at IS NULL AND t.category <> 'ACTIONABLE'";

/** Notifications: raised, read, resolved. */
@Module({
  imports: [AuditModule, MailModule, TypeOrmModule.forFeature([NotificationEntity])],
  providers: [DueNotificationsWorker, NotificationsRepository, NotificationsService],
  exports: [NotificationsService],
})
export class NotificationsModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [
      // Notifications that need action: after they were resolved. Others: after they were read, or after a year.
      { table: 'notifications', by: 'resolved_at', before: RETENTION },
      { table: 'notifications', by: 'read_at', before: RETENTION, condition: NOTHING_TO_DO },
      {
        table: 'notifications',
        by: 'event_time',
        before: "now() - interval '365 days'",
        condition: `t.read_at IS NULL AND ${NOTHING_TO_DO}`,
      },
    ];
  }
}

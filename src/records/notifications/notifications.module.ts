import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '#records/audit/audit.module.js';
import { MailModule } from '#records/mail/mail.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { NotificationEntity } from './notification.entity.js';
import { NotificationsRepository } from './notifications.repository.js';
import { DueNotificationsWorker } from './due-notifications.worker.js';
import { NotificationsService } from './notifications.service.js';
import { NOTIFICATIONS_PURGE } from './notifications-purge.js';

/** Notifications: raised, read, resolved. */
@Module({
  imports: [AuditModule, MailModule, TypeOrmModule.forFeature([NotificationEntity])],
  providers: [DueNotificationsWorker, NotificationsRepository, NotificationsService],
  exports: [NotificationsService],
})
export class NotificationsModule {
  @Answers('purge.tasks')
  purged() {
    return NOTIFICATIONS_PURGE;
  }
}

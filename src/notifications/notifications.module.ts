import { Global, Module } from '@nestjs/common';
import { NotificationsRepository } from './notifications.repository.js';
import { NotificationsService } from './notifications.service.js';

/** Notifications: raised, read, resolved. */
@Global()
@Module({ providers: [NotificationsRepository, NotificationsService], exports: [NotificationsService] })
export class NotificationsModule {}

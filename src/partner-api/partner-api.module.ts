import { Module } from '@nestjs/common';
import { ActivityModule } from '../activity/activity.module.js';
import { ConsentsModule } from '../consents/consents.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { PartnerNotificationsController } from './partner-notifications.controller.js';
import { PartnerUsersController } from './partner-users.controller.js';

/** The users and notifications that partners may read. */
@Module({
  imports: [NotificationsModule, ConsentsModule, TokensModule, ActivityModule],
  controllers: [PartnerNotificationsController, PartnerUsersController],
})
export class PartnerApiModule {}

import { Module } from '@nestjs/common';
import { PartnerNotificationsController } from './partner-notifications.controller.js';
import { PartnerUsersController } from './partner-users.controller.js';

/** What partners may read of users and notifications. */
@Module({ controllers: [PartnerNotificationsController, PartnerUsersController] })
export class PartnerApiModule {}

import { Module } from '@nestjs/common';
import { PartnerNotificationsController } from './partner-notifications.controller.js';
import { PartnerUsersController } from './partner-users.controller.js';

/** The users and notifications that partners may read. */
@Module({ controllers: [PartnerNotificationsController, PartnerUsersController] })
export class PartnerApiModule {}

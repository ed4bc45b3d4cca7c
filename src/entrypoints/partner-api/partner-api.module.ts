import { Module } from '@nestjs/common';
import { ActivityModule } from '#records/activity/activity.module.js';
import { ConsentsModule } from '#access/consents/consents.module.js';
import { DisclosuresModule } from '#events/disclosures/disclosures.module.js';
import { NotificationsModule } from '#records/notifications/notifications.module.js';
import { TokensModule } from '#access/tokens/tokens.module.js';
import { PartnerNotificationsController } from './partner-notifications.controller.js';
import { SandboxModule } from '#events/sandbox/sandbox.module.js';
import { SandboxFaultsModule } from '#access/sandbox-faults/sandbox-faults.module.js';
import { PartnerSandboxController } from './partner-sandbox.controller.js';
import { PartnerUsersController } from './partner-users.controller.js';

/** The users and notifications that partners may read, and their sandbox. */
@Module({
  imports: [
    NotificationsModule,
    ConsentsModule,
    DisclosuresModule,
    TokensModule,
    ActivityModule,
    SandboxModule,
    SandboxFaultsModule,
  ],
  controllers: [PartnerNotificationsController, PartnerSandboxController, PartnerUsersController],
})
export class PartnerApiModule {}

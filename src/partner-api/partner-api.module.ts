import { Module } from '@nestjs/common';
import { ActivityModule } from '../activity/activity.module.js';
import { ConsentsModule } from '../consents/consents.module.js';
import { DisclosuresModule } from '../disclosures/disclosures.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { PartnerNotificationsController } from './partner-notifications.controller.js';
import { SandboxModule } from '../sandbox/sandbox.module.js';
import { SandboxFaultsModule } from '../sandbox-faults/sandbox-faults.module.js';
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

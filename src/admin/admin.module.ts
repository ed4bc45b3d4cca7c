import { Module } from '@nestjs/common';
import { ActivityModule } from '../activity/activity.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { ConsentsModule } from '../consents/consents.module.js';
import { NotificationsModule } from '../notifications/notifications.module.js';
import { ScopesModule } from '../scopes/scopes.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { UsersModule } from '../users/users.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { AdminAuditEventsController } from './admin-audit-events.controller.js';
import { AdminClientCredentialsController } from './admin-client-credentials.controller.js';
import { AdminClientsController } from './admin-clients.controller.js';
import { AdminConsentsController } from './admin-consents.controller.js';
import { AdminDeliveriesController } from './admin-deliveries.controller.js';
import { AdminGrantsController } from './admin-grants.controller.js';
import { AdminNotificationsController } from './admin-notifications.controller.js';
import { AdminScopesController } from './admin-scopes.controller.js';
import { AdminUsersController } from './admin-users.controller.js';
import { AdminWebhookEndpointsController } from './admin-webhook-endpoints.controller.js';
import { ConsoleModule } from './console/console.module.js';

/** The admin API and the console (contract §12): only controllers, which call the services of the other modules. */
@Module({
  imports: [
    AuditModule,
    ClientsModule,
    ConsentsModule,
    WebhooksModule,
    TokensModule,
    NotificationsModule,
    ScopesModule,
    UsersModule,
    ActivityModule,
    ConsoleModule,
  ],
  controllers: [
    AdminAuditEventsController,
    AdminClientCredentialsController,
    AdminClientsController,
    AdminConsentsController,
    AdminDeliveriesController,
    AdminGrantsController,
    AdminNotificationsController,
    AdminScopesController,
    AdminUsersController,
    AdminWebhookEndpointsController,
  ],
})
export class AdminModule {}

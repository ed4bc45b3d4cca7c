import { Module } from '@nestjs/common';
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
import { ADMINISTERED } from './administered.modules.js';
import { ConsoleModule } from './console/console.module.js';

/** The admin API and the console (contract §12): only controllers, which call the services of the other modules. */
@Module({
  imports: [...ADMINISTERED, ConsoleModule],
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

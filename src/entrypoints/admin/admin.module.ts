import { Module } from '@nestjs/common';
import { AdminAuditEventsController } from './api/audit-events/admin-audit-events.controller.js';
import { AdminClientCredentialsController } from './api/clients/admin-client-credentials.controller.js';
import { AdminClientsController } from './api/clients/admin-clients.controller.js';
import { AdminConsentsController } from './api/consents/admin-consents.controller.js';
import { AdminDeliveriesController } from './api/deliveries/admin-deliveries.controller.js';
import { AdminEventTypesController } from './api/event-types/admin-event-types.controller.js';
import { AdminGrantsController } from './api/grants/admin-grants.controller.js';
import { AdminIdentitiesController } from './api/users/admin-identities.controller.js';
import { AdminMembersController } from './api/users/admin-members.controller.js';
import { AdminMailsController } from './api/mails/admin-mails.controller.js';
import { AdminNotificationsController } from './api/notifications/admin-notifications.controller.js';
import { AdminOperatorInvitationsController } from './api/operator-invitations/admin-operator-invitations.controller.js';
import { AdminPurposesController } from './api/purposes/admin-purposes.controller.js';
import { AdminScopesController } from './api/scopes/admin-scopes.controller.js';
import { AdminUsersController } from './api/users/admin-users.controller.js';
import { AdminWebhookEndpointsController } from './api/webhook-endpoints/admin-webhook-endpoints.controller.js';
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
    AdminEventTypesController,
    AdminGrantsController,
    AdminIdentitiesController,
    AdminMailsController,
    AdminMembersController,
    AdminNotificationsController,
    AdminOperatorInvitationsController,
    AdminPurposesController,
    AdminScopesController,
    AdminUsersController,
    AdminWebhookEndpointsController,
  ],
})
export class AdminModule {}

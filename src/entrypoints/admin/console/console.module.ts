import { Module } from '@nestjs/common';
import { HttpModule } from '#platform/http/http.module.js';
import { ADMINISTERED } from '../administered.modules.js';
import { ConsoleAuditController } from './audit/audit.controller.js';
import { ConsoleEventTypesController } from './catalogues/event-types.controller.js';
import { ConsoleEventVersionsController } from './catalogues/event-versions.controller.js';
import { ConsolePurposesController } from './catalogues/purposes.controller.js';
import { ConsoleScopesController } from './catalogues/scopes.controller.js';
import { ConsoleClientConsentsController } from './clients/client-consents.controller.js';
import { CLIENT_ACTION_CONTROLLERS, ClientSubjects } from './clients/client-actions.js';
import { ConsoleClientLogoController } from './clients/client-logo.controller.js';
import { ConsoleClientRefusalsController } from './clients/client-refusals.controller.js';
import { ConsoleClientRequestsController } from './clients/client-requests.controller.js';
import { ConsoleClientSecretsController } from './clients/client-secrets.controller.js';
import { ConsoleClientsController } from './clients/clients.controller.js';
import { ConsoleConfirmPasswordController } from './confirm-password.controller.js';
import { ConsoleServices } from './console-context.js';
import { ConsoleGuard } from './console.guard.js';
import { ConsoleGrantsController } from './grants/grants.controller.js';
import { ConsoleMailsController } from './mails/mails.controller.js';
import { ConsoleNotificationsController } from './notifications/notifications.controller.js';
import { ConsoleOverviewController } from './overview/overview.controller.js';
import { OverviewAlerts } from './overview/overview-alerts.js';
import { PersonalExports } from './personal-exports.service.js';
import { Pickers } from './pickers.service.js';
import { ConsoleSearch } from './search/console-search.service.js';
import { ConsoleSearchController } from './search/search.controller.js';
import { ConsoleUnknownPageController } from './unknown-page.controller.js';
import { ConsoleUserApplicationsController } from './users/user-applications.controller.js';
import { ConsoleUserIdentitiesController } from './users/user-identities.controller.js';
import { ConsoleOperatorInvitationsController } from './users/operator-invitations.controller.js';
import { ConsoleUserMembersController } from './users/user-members.controller.js';
import { USER_ACTION_CONTROLLERS, UserSubjects } from './users/user-actions.js';
import { ConsoleUsersController } from './users/users.controller.js';
import { ConsoleDeliveriesController } from './webhooks/deliveries.controller.js';
import { WaitingCounts } from './waiting/waiting-counts.js';
import { WaitingRepository } from './waiting/waiting.repository.js';
import { ConsoleEndpointsController } from './webhooks/endpoints.controller.js';

/** The operator console (contract §12): only controllers and pages, which call the same services as the admin API. */
@Module({
  imports: [HttpModule, ...ADMINISTERED],
  controllers: [
    ConsoleAuditController,
    ConsoleClientConsentsController,
    ConsoleClientLogoController,
    ConsoleClientRefusalsController,
    ConsoleClientRequestsController,
    ConsoleClientSecretsController,
    ConsoleClientsController,
    ConsoleConfirmPasswordController,
    ConsoleDeliveriesController,
    ConsoleEndpointsController,
    ConsoleEventTypesController,
    ConsoleEventVersionsController,
    ConsoleGrantsController,
    ConsoleMailsController,
    ConsoleNotificationsController,
    ConsoleOverviewController,
    ConsolePurposesController,
    ConsoleScopesController,
    ConsoleSearchController,
    ConsoleUnknownPageController,
    ConsoleUserApplicationsController,
    ConsoleUserIdentitiesController,
    ConsoleOperatorInvitationsController,
    ConsoleUserMembersController,
    ConsoleUsersController,
    ...CLIENT_ACTION_CONTROLLERS,
    ...USER_ACTION_CONTROLLERS,
  ],
  providers: [
    ClientSubjects,
    ConsoleGuard,
    ConsoleSearch,
    ConsoleServices,
    OverviewAlerts,
    PersonalExports,
    Pickers,
    UserSubjects,
    WaitingCounts,
    WaitingRepository,
  ],
  exports: [ConsoleServices, OverviewAlerts, Pickers, WaitingCounts, WaitingRepository],
})
export class ConsoleModule {}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '#records/activity/activity.module.js';
import { AuditModule } from '#records/audit/audit.module.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { ConsentsModule } from '#access/consents/consents.module.js';
import { HttpModule } from '#platform/http/http.module.js';
import { PartnersModule } from '#events/partners/partners.module.js';
import { SandboxModule } from '#events/sandbox/sandbox.module.js';
import { SandboxFaultsModule } from '#access/sandbox-faults/sandbox-faults.module.js';
import { TokensModule } from '#access/tokens/tokens.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { WebhooksModule } from '#events/webhooks/webhooks.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { MemberSessionsRepository, MemberSessionEntity } from './access/member-sessions.repository.js';
import { MemberSessions } from './access/member-sessions.service.js';
import { PortalServices } from './frame/portal-context.js';
import { PortalAccessService } from './access/portal-access.service.js';
import { PortalCredentialsController } from './application/portal-credentials.controller.js';
import { PortalCredentials } from './application/portal-credentials.service.js';
import { PortalKeysController } from './application/portal-keys.controller.js';
import { PortalDeliveriesController } from './deliveries/portal-deliveries.controller.js';
import { PortalEndpointController } from './endpoints/portal-endpoint.controller.js';
import { PortalEndpointsController } from './endpoints/portal-endpoints.controller.js';
import { PortalHomeController } from './home/portal-home.controller.js';
import { PortalHomeService } from './home/portal-home.service.js';
import { PortalEntryController } from './access/portal-entry.controller.js';
import { PortalEntryGuard } from './access/portal-entry.guard.js';
import { PortalGuidesController } from './guides/portal-guides.controller.js';
import { PortalLinksRepository, PortalLinkEntity } from './access/portal-links.repository.js';
import { PortalMembersController } from './application/portal-members.controller.js';
import { PortalRecoveriesController } from './deliveries/portal-recoveries.controller.js';
import { PortalRequestsController } from './application/portal-requests.controller.js';
import { PortalSearchController } from './search/portal-search.controller.js';
import { PortalSearch } from './search/portal-search.service.js';
import { PortalSignInController } from './access/portal-sign-in.controller.js';
import { PortalSignInGuard } from './access/portal-sign-in.guard.js';
import { LinkSessionsRepository, LinkSessionEntity } from './access/link-sessions.repository.js';
import { ChosenDriverView } from './sandbox/chosen-driver-view.js';
import { PortalSandboxController } from './sandbox/portal-sandbox.controller.js';
import { PortalTestsController } from './endpoints/portal-tests.controller.js';
import { PortalGuard } from './access/portal.guard.js';
import { WebhookPortalLinkController } from './access/webhook-portal-link.controller.js';
import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

/** The one-time link to the webhook portal, the portal's session and its pages. */
@Module({
  imports: [
    HttpModule,
    AuditModule,
    UsersModule,
    WebhooksModule,
    TokensModule,
    ActivityModule,
    ClientsModule,
    ConsentsModule,
    PartnersModule,
    SandboxModule,
    SandboxFaultsModule,
    TypeOrmModule.forFeature([MemberSessionEntity, PortalLinkEntity, LinkSessionEntity]),
  ],
  controllers: [
    PortalCredentialsController,
    PortalKeysController,
    PortalEntryController,
    PortalHomeController,
    PortalEndpointsController,
    PortalEndpointController,
    PortalTestsController,
    PortalDeliveriesController,
    PortalRecoveriesController,
    PortalGuidesController,
    PortalMembersController,
    PortalRequestsController,
    PortalSearchController,
    PortalSignInController,
    PortalSandboxController,
    WebhookPortalLinkController,
  ],
  providers: [
    ChosenDriverView,
    MemberSessions,
    MemberSessionsRepository,
    PortalAccessService,
    PortalServices,
    PortalCredentials,
    PortalEntryGuard,
    PortalGuard,
    PortalHomeService,
    PortalLinksRepository,
    PortalSearch,
    LinkSessionsRepository,
    PortalSignInGuard,
  ],
  exports: [ChosenDriverView, MemberSessions, PortalAccessService, PortalSearch, PortalServices],
})
export class WebhookPortalModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [
      { table: 'portal_links', by: 'expires_at' },
      { table: 'portal_sessions', by: 'expires_at' },
      { table: 'portal_member_sessions', by: 'expires_at' },
    ];
  }
}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { ActivityModule } from '../activity/activity.module.js';
import { AuditModule } from '../audit/audit.module.js';
import { ClientsModule } from '../clients/clients.module.js';
import { HttpModule } from '../http/http.module.js';
import { PartnersModule } from '../partners/partners.module.js';
import { SandboxModule } from '../sandbox/sandbox.module.js';
import { SandboxFaultsModule } from '../sandbox-faults/sandbox-faults.module.js';
import { TokensModule } from '../tokens/tokens.module.js';
import { UsersModule } from '../users/users.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { PurgeTasks } from '../database/purge/purge-tasks.js';
import { MemberSessionEntity } from './member-session.entity.js';
import { MemberSessionsRepository } from './member-sessions.repository.js';
import { MemberSessions } from './member-sessions.service.js';
import { PortalLinkEntity } from './portal-link.entity.js';
import { PortalSessionEntity } from './portal-session.entity.js';
import { PortalAccessService } from './portal-access.service.js';
import { PortalContactsController } from './portal-contacts.controller.js';
import { PortalCredentialsController } from './portal-credentials.controller.js';
import { PortalDeliveriesController } from './portal-deliveries.controller.js';
import { PortalEndpointController } from './portal-endpoint.controller.js';
import { PortalEndpointsController } from './portal-endpoints.controller.js';
import { PortalEntryController } from './portal-entry.controller.js';
import { PortalEntryGuard } from './portal-entry.guard.js';
import { PortalGuidesController } from './portal-guides.controller.js';
import { PortalLinksRepository } from './portal-links.repository.js';
import { PortalMembersController } from './portal-members.controller.js';
import { PortalRecoveriesController } from './portal-recoveries.controller.js';
import { PortalRedirectUrisController } from './portal-redirect-uris.controller.js';
import { PortalRequestsController } from './portal-requests.controller.js';
import { PortalSignInController } from './portal-sign-in.controller.js';
import { PortalSignInGuard } from './portal-sign-in.guard.js';
import { PortalSessionsRepository } from './portal-sessions.repository.js';
import { PortalSandboxController } from './portal-sandbox.controller.js';
import { PortalTestsController } from './portal-tests.controller.js';
import { PortalGuard } from './portal.guard.js';
import { WebhookPortalLinkController } from './webhook-portal-link.controller.js';
import { WEBHOOK_PORTAL_PURGE } from './webhook-portal-purge.js';

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
    PartnersModule,
    SandboxModule,
    SandboxFaultsModule,
    TypeOrmModule.forFeature([MemberSessionEntity, PortalLinkEntity, PortalSessionEntity]),
  ],
  controllers: [
    PortalContactsController,
    PortalCredentialsController,
    PortalEntryController,
    PortalEndpointsController,
    PortalEndpointController,
    PortalTestsController,
    PortalDeliveriesController,
    PortalRecoveriesController,
    PortalGuidesController,
    PortalMembersController,
    PortalRedirectUrisController,
    PortalRequestsController,
    PortalSignInController,
    PortalSandboxController,
    WebhookPortalLinkController,
  ],
  providers: [
    MemberSessions,
    MemberSessionsRepository,
    PortalAccessService,
    PortalEntryGuard,
    PortalGuard,
    PortalLinksRepository,
    PortalSessionsRepository,
    PortalSignInGuard,
  ],
})
export class WebhookPortalModule {
  constructor(purge: PurgeTasks) {
    purge.add(WEBHOOK_PORTAL_PURGE);
  }
}

import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { PortalLinkEntity } from './portal-link.entity.js';
import { PortalSessionEntity } from './portal-session.entity.js';
import { PortalAccessService } from './portal-access.service.js';
import { PortalDeliveriesController } from './portal-deliveries.controller.js';
import { PortalEndpointController } from './portal-endpoint.controller.js';
import { PortalEndpointsController } from './portal-endpoints.controller.js';
import { PortalEntryController } from './portal-entry.controller.js';
import { PortalEntryGuard } from './portal-entry.guard.js';
import { PortalGuidesController } from './portal-guides.controller.js';
import { PortalLinksRepository } from './portal-links.repository.js';
import { PortalRecoveriesController } from './portal-recoveries.controller.js';
import { PortalSessionsRepository } from './portal-sessions.repository.js';
import { PortalTestsController } from './portal-tests.controller.js';
import { PortalGuard } from './portal.guard.js';
import { WebhookPortalLinkController } from './webhook-portal-link.controller.js';

/** The one-time link to the webhook portal, the portal's session and its pages. */
@Module({
  imports: [TypeOrmModule.forFeature([PortalLinkEntity, PortalSessionEntity])],
  controllers: [
    PortalEntryController,
    PortalEndpointsController,
    PortalEndpointController,
    PortalTestsController,
    PortalDeliveriesController,
    PortalRecoveriesController,
    PortalGuidesController,
    WebhookPortalLinkController,
  ],
  providers: [
    PortalAccessService,
    PortalEntryGuard,
    PortalGuard,
    PortalLinksRepository,
    PortalSessionsRepository,
  ],
})
export class WebhookPortalModule {}

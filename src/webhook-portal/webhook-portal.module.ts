import { Module } from '@nestjs/common';
import { PortalAccessService } from './portal-access.service.js';
import { PortalEndpointsController } from './portal-endpoints.controller.js';
import { PortalEntryController } from './portal-entry.controller.js';
import { PortalLinksRepository } from './portal-links.repository.js';
import { WebhookPortalLinkController } from './webhook-portal-link.controller.js';

/** The one-time link to the webhook portal, the portal's session and its pages. */
@Module({
  controllers: [PortalEntryController, PortalEndpointsController, WebhookPortalLinkController],
  providers: [PortalAccessService, PortalLinksRepository],
})
export class WebhookPortalModule {}

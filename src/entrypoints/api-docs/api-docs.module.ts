import { Module } from '@nestjs/common';
import { ActivityModule } from '#records/activity/activity.module.js';
import { BrandModule } from '#records/brand/brand.module.js';
import { ClientsModule } from '#access/clients/clients.module.js';
import { HttpModule } from '#platform/http/http.module.js';
import { PartnersModule } from '#events/partners/partners.module.js';
import { UsersModule } from '#access/users/users.module.js';
import { WebhookPortalModule } from '#entrypoints/webhook-portal/webhook-portal.module.js';
import { WebhooksModule } from '#events/webhooks/webhooks.module.js';
import { ApiDocsController } from './api-docs.controller.js';
import { ApiDocs } from './api-docs.service.js';
import { GoingLive } from './going-live/going-live.service.js';
import { HandbookController } from './handbook.controller.js';
import { DocsSearch } from './handbook/docs-search.service.js';
import { Handbook } from './handbook/handbook.service.js';
import { DocsReaders } from './readers/docs-readers.service.js';

@Module({
  imports: [
    ActivityModule,
    BrandModule,
    ClientsModule,
    HttpModule,
    PartnersModule,
    UsersModule,
    WebhookPortalModule,
    WebhooksModule,
  ],
  controllers: [ApiDocsController, HandbookController],
  providers: [ApiDocs, DocsReaders, DocsSearch, GoingLive, Handbook],
  exports: [GoingLive],
})
export class ApiDocsModule {}

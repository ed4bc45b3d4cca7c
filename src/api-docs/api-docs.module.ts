import { Module } from '@nestjs/common';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { ApiDocsController } from './api-docs.controller.js';
import { ApiDocs } from './api-docs.service.js';
import { HandbookController } from './handbook.controller.js';
import { Handbook } from './handbook/handbook.service.js';

@Module({
  imports: [WebhooksModule],
  controllers: [ApiDocsController, HandbookController],
  providers: [ApiDocs, Handbook],
})
export class ApiDocsModule {}

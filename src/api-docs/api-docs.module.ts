import { Module } from '@nestjs/common';
import { BrandModule } from '../brand/brand.module.js';
import { WebhooksModule } from '../webhooks/webhooks.module.js';
import { ApiDocsController } from './api-docs.controller.js';
import { ApiDocs } from './api-docs.service.js';
import { HandbookController } from './handbook.controller.js';
import { Handbook } from './handbook/handbook.service.js';

@Module({
  imports: [BrandModule, WebhooksModule],
  controllers: [ApiDocsController, HandbookController],
  providers: [ApiDocs, Handbook],
})
export class ApiDocsModule {}

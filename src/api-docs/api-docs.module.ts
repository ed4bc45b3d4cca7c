import { Module } from '@nestjs/common';
import { ApiDocsController } from './api-docs.controller.js';
import { ApiDocs } from './api-docs.service.js';

@Module({ controllers: [ApiDocsController], providers: [ApiDocs] })
export class ApiDocsModule {}

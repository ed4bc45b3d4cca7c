import { Module } from '@nestjs/common';
import { ApiDocsController } from './api-docs.controller.js';
import { ApiDocs } from './api-docs.service.js';
import { HandbookController } from './handbook.controller.js';
import { Handbook } from './handbook/handbook.service.js';

@Module({ controllers: [ApiDocsController, HandbookController], providers: [ApiDocs, Handbook] })
export class ApiDocsModule {}

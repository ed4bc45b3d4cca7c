import { Controller, Get, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Settings } from '../config/settings.js';
import { PageRoute, sendPage } from '../http/html.js';
import { openApiDocument } from './document.js';
import type { OpenApiDocument } from './openapi.js';
import { docsPage } from './pages/docs.page.js';

/** The description of the HTTP interface (contract §14), for programs and for people. */
@Controller()
export class ApiDocsController {
  private readonly document: OpenApiDocument;
  private readonly html: string;

  constructor(settings: Settings) {
    this.document = openApiDocument(settings.baseUrl);
    this.html = docsPage(this.document);
  }

  /** OpenAPI 3.1. */
  @Get('openapi.json')
  show(@Res({ passthrough: true }) reply: FastifyReply): OpenApiDocument {
    void reply.header('cache-control', 'public, max-age=300');
    return this.document;
  }

  /** The same as a page. */
  @Get('docs')
  @PageRoute()
  read(@Res() reply: FastifyReply): void {
    sendPage(reply, this.html);
  }
}

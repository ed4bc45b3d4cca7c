import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../config/settings.js';
import { PageRoute } from '../http/send-page.js';
import { KeptContent } from '../http/kept-content.js';
import { pageHeaders } from '../http/page-headers.js';
import { openApiDocument } from './document.js';
import { docsPage } from './pages/docs.page.js';

/** The description of the HTTP API (contract §14), for programs and for people. */
@Controller()
export class ApiDocsController {
  private readonly document: KeptContent;
  private readonly page: KeptContent;

  constructor(settings: Settings) {
    const document = openApiDocument(settings.baseUrl);
    this.document = new KeptContent(JSON.stringify(document), 'application/json; charset=utf-8');
    this.page = new KeptContent(docsPage(document), 'text/html; charset=utf-8');
  }

  /** OpenAPI 3.1. */
  @Get('openapi.json')
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    void reply.header('cache-control', 'public, max-age=300');
    await this.document.send(request, reply);
  }

  /** The same as a page. */
  @Get('docs')
  @PageRoute()
  async read(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    void reply.headers(pageHeaders());
    await this.page.send(request, reply);
  }
}

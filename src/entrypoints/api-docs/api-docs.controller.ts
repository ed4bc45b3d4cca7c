import { Controller, Get, Req, Res } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PageRoute, sendPage } from '#platform/http/page-routes/send-page.js';
import { renderPage } from '#platform/web/layout/layout.js';
import type { Audience } from './audiences.js';
import { ApiDocs } from './api-docs.service.js';
import type { MemberClient } from '#events/partners/members/member.js';
import { sampleClientOf } from './readers/docs-reader.js';
import { DocsReaders } from './readers/docs-readers.service.js';

/** The description of the HTTP API (contract §14), for programs and for people. */
@Controller()
export class ApiDocsController {
  constructor(
    private readonly docs: ApiDocs,
    private readonly readers: DocsReaders,
  ) {}

  /** OpenAPI 3.1, for partners. */
  @Get('openapi.json')
  show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.send('partners', request, reply);
  }

  /** The same of what needs operator scopes. */
  @Get('openapi/operators.json')
  showForOperators(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.send('operators', request, reply);
  }

  /** AsyncAPI 3.0 of what webhook endpoints receive. */
  @Get('asyncapi.json')
  showEvents(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.send('events', request, reply);
  }

  /** The first as a page. */
  @Get('docs')
  @PageRoute()
  async read(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const reader = await this.readers.of(request, reply);
    await this.sendPage('partners', reply, sampleClientOf(reader));
  }

  /** The second as a page. */
  @Get('docs/operators')
  @PageRoute()
  readForOperators(@Res() reply: FastifyReply): Promise<void> {
    return this.sendPage('operators', reply);
  }

  private async send(of: Audience | 'events', request: FastifyRequest, reply: FastifyReply): Promise<void> {
    void reply.header('cache-control', 'public, max-age=60');
    const document = await this.docs.document(of);
    await document.send(request, reply);
  }

  private async sendPage(audience: Audience, reply: FastifyReply, client?: MemberClient): Promise<void> {
    const styleNonce = randomBytes(16).toString('base64url');
    const page = await this.docs.pageWith(styleNonce, audience, client);
    sendPage(reply, renderPage(page, reply.server.brand), {
      withScript: true,
      styleNonce,
      isPersonal: client !== undefined,
    });
  }
}

import { Controller, Get, Req, Res } from '@nestjs/common';
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { PageRoute, sendPage } from '../http/page-routes/send-page.js';
import { ApiDocs } from './api-docs.service.js';

/** The description of the HTTP API (contract §14), for programs and for people. */
@Controller()
export class ApiDocsController {
  constructor(private readonly docs: ApiDocs) {}

  /** OpenAPI 3.1. */
  @Get('openapi.json')
  async show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    void reply.header('cache-control', 'public, max-age=60');
    const document = await this.docs.document();
    await document.send(request, reply);
  }

  /** The same as a page. */
  @Get('docs')
  @PageRoute()
  async read(@Res() reply: FastifyReply): Promise<void> {
    const styleNonce = randomBytes(16).toString('base64url');
    sendPage(reply, await this.docs.pageWith(styleNonce), { withScript: true, styleNonce });
  }
}

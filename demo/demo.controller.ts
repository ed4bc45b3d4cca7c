import { Controller, Get, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Form, queryStringOf } from '#platform/http/forms/form.js';
import { PageRoute, sendPage } from '#platform/http/page-routes/send-page.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { demoCallbackPage } from './pages/demo-callback.page.js';

/** Stands in for a partner's redirect URI in the demonstration: shows the code or error it received. */
@Controller('demo/callback')
export class DemoController {
  @Get()
  @PageRoute()
  show(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    const query = Form.parse(queryStringOf(request.url));
    const page = demoCallbackPage({ code: query.get('code'), error: query.get('error') });
    sendPage(reply, renderPage(page, reply.server.brand));
  }
}

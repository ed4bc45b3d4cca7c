import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { notFound } from '#platform/http/problems/problem.js';
import { PageRoute, sendPage } from '#platform/http/page-routes/send-page.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { DemoInbox, type DemoMail } from './demo-inbox.js';
import { demoInboxPage, demoMailPage } from './pages/demo-mail.page.js';

const FRAME_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'; base-uri 'none'; sandbox allow-top-navigation-by-user-activation";

/** The inbox of everybody in the demonstration. */
@Controller('demo/mail')
export class DemoMailController {
  constructor(private readonly inbox: DemoInbox) {}

  @Get()
  @PageRoute()
  list(@Res() reply: FastifyReply): void {
    sendPage(reply, renderPage(demoInboxPage(this.inbox.list()), reply.server.brand));
  }

  @Get(':id')
  @PageRoute()
  show(@Param('id') id: string, @Res() reply: FastifyReply): void {
    sendPage(reply, renderPage(demoMailPage(this.mail(id)), reply.server.brand), { withFrame: true });
  }

  /** The mail as a mail program shows it, for the frame on its page: it runs nothing, and loads nothing. */
  @Get(':id/html')
  @PageRoute()
  html(@Param('id') id: string, @Res() reply: FastifyReply): void {
    const { html } = this.mail(id);
    void reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'cache-control': 'no-store',
        'x-frame-options': 'SAMEORIGIN',
        'content-security-policy': FRAME_POLICY,
      })
      .send(html.replace('<head>', '<head><base target="_top"/>'));
  }

  private mail(id: string): DemoMail {
    const mail = this.inbox.find(id);
    if (!mail) throw notFound('There is no such mail. The inbox is emptied when the demonstration stops.');
    return mail;
  }
}

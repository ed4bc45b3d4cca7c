import { Controller, Get, Param, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { notFound } from '#platform/http/problems/problem.js';
import { PageRoute, sendPage } from '#platform/http/page-routes/send-page.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { DemoInbox } from './demo-inbox.js';
import { demoInboxPage, demoMailPage } from './pages/demo-mail.page.js';

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
    const mail = this.inbox.find(id);
    if (!mail) throw notFound('There is no such mail. The inbox is emptied when the demonstration stops.');
    sendPage(reply, renderPage(demoMailPage(mail), reply.server.brand));
  }
}

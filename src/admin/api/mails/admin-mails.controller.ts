import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '../../../config/settings.js';
import { ApiPage } from '../../../http/api/api-answers.js';
import { pageRequestOf, setPageLinks } from '../../../http/api/page-query.js';
import { MailsService } from '../../../mail/mails.service.js';
import { AdminApi, AdminRead } from '../admin-api.decorator.js';
import { MailsQuery } from './admin-mails.dto.js';
import { mailView, MailView } from './admin-mails.view.js';

/** Mails in the admin API (contract §18). */
@Controller('admin/mails')
@AdminApi()
export class AdminMailsController {
  constructor(
    private readonly settings: Settings,
    private readonly mails: MailsService,
  ) {}

  /** All mails, newest first, paged; `user_id` and `state` filter the list. */
  @Get()
  @AdminRead(
    'listMails',
    'Mails, newest first',
    'All given filters must match. Never with the content of a mail.',
  )
  @ApiPage(MailView)
  async list(
    @Query() query: MailsQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<MailView[]> {
    const filter = { userId: query.user_id, state: query.state };
    const page = await this.mails.list(filter, pageRequestOf(query));
    setPageLinks(request, reply, this.settings.baseUrl, page, (mail) => mail.id);
    return page.items.map(mailView);
  }
}

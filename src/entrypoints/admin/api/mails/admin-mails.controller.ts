import { Controller, Get, Query } from '@nestjs/common';
import { ApiPage } from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { MailsService } from '#records/mail/mails.service.js';
import { AdminApi, AdminRead } from '../admin-api.decorator.js';
import { MailsQuery } from './admin-mails.dto.js';
import { MailView } from './admin-mails.view.js';

/** Mails in the admin API (contract §18). */
@Controller('admin/mails')
@AdminApi()
export class AdminMailsController {
  constructor(private readonly mails: MailsService) {}

  @Get()
  @AdminRead(
    'listMails',
    'Mails, newest first',
    'All given filters must match. Never with the content of a mail.',
  )
  @ApiPage(MailView)
  async list(@Query() query: MailsQuery): Promise<ListAnswer<MailView>> {
    const filter = { userId: query.user_id, state: query.state };
    return listAnswer(await this.mails.list(filter, pageRequestOf(query)), MailView.of);
  }
}

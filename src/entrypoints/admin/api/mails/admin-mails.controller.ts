import { Controller, Get, Query } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import { ApiPage } from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { MailsService } from '#records/mail/mails.service.js';
import { idOf, oneOf, orNull, time, whole } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import { MAIL_KINDS, MAIL_STATES, type MailEntity } from '#records/mail/mail.entity.js';
import { AdminApi, AdminRead } from '../admin-api.decorator.js';
import { MailsQuery } from './admin-mails.dto.js';

/** A mail as operators see it: that it was sent and why, never its content. */
@ApiSchema({ name: 'Mail' })
class MailView extends viewOf<MailEntity>()({
  id: idOf('mail'),
  kind: oneOf(...MAIL_KINDS),
  user_id: orNull(idOf('user')),
  state: oneOf(...MAIL_STATES),
  attempts: whole('Attempts to send it so far.'),
  created_at: time(),
  sent_at: orNull(time('When the SMTP server took it.')),
}) {}

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

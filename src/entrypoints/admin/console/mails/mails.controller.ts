import { Context } from '#platform/http/page-routes/page-context.js';
import { MailsService } from '#records/mail/mails.service.js';
import { MailsQuery } from '../../api/mails/admin-mails.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsoleGet } from '../console-pages.decorator.js';
import { filteredList } from '../filtered-list.js';
import { Pickers } from '../pickers.service.js';
import { mailsPage } from './mails.page.js';

/** Mails in the console: which were sent, to whom and why, never their content. */
@ConsolePages('mails')
export class ConsoleMailsController {
  constructor(
    private readonly mails: MailsService,
    private readonly pickers: Pickers,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const list = await filteredList(MailsQuery, context.url, ({ user_id: userId, state }, page) =>
      this.mails.list({ userId, state }, page),
    );
    const rows = list.page?.items ?? [];
    const [names, users] = await Promise.all([
      this.pickers.namesOf(rows.flatMap(({ userId, clientId }) => [userId, clientId])),
      this.pickers.users(),
    ]);
    return { page: mailsPage(list, names, users), status: list.errors ? 400 : 200 };
  }
}

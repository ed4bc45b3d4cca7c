import { say } from '#platform/language/text.js';
import { Param, Query } from '@nestjs/common';
import type { Form } from '#platform/http/forms/form.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { safeReturnTo } from '#platform/http/forms/return-to.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { type AccountAnswer, type AccountContext, AccountListQuery } from './account-context.js';
import { AccountGet, AccountPages, AccountPost } from './account.guard.js';
import { notificationsPage } from './pages/notifications.page.js';

const PATH = '/account/notifications';

/** All notifications of a user, including security notifications, which no client can see (contract §8). */
@AccountPages('notifications')
export class AccountNotificationsController {
  constructor(private readonly notifications: NotificationsService) {}

  /** Newest first. */
  @AccountGet()
  async list(@Context() context: AccountContext, @Query() query: AccountListQuery): Promise<AccountAnswer> {
    const notifications = await this.notifications.list({ userId: context.user.id }, pageRequestOf(query));
    const { language } = context.reader;
    return { page: notificationsPage({ notifications, language, returnTo: context.url }) };
  }

  /** Marks those as read that were there when the page was shown: up to the newest on it, `until`. */
  @AccountPost('mark_all_read')
  async markAllRead(@Context() { form, user, actor }: AccountContext): Promise<AccountAnswer> {
    await this.notifications.markReadUpTo(form.get('until') ?? '', user.id, actor);
    return { goTo: PATH, notice: 'all_read' };
  }

  /**
   * `mark` is `read`, or `resolved`, which is read too; each is set only once. Then redirects to the page of the list that was
   * shown.
   */
  @AccountPost(':id')
  async mark(@Context() context: AccountContext, @Param('id') id: string): Promise<AccountAnswer> {
    const mark = context.form.get('mark');
    if (mark !== 'read' && mark !== 'resolved') {
      throw badRequest(say('The form is incomplete. Go back, reload the page and try again.'));
    }
    const marks = { read: true, resolved: mark === 'resolved' };
    await this.notifications.mark(id, { userId: context.user.id }, marks, context.actor);
    return { goTo: listPathOf(context.form), notice: mark };
  }
}

function listPathOf(form: Form): string {
  const returnTo = safeReturnTo(form.get('return_to'));
  return returnTo?.split('?', 1)[0] === PATH ? returnTo : PATH;
}

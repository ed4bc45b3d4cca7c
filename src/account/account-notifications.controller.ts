import { Controller, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CsrfService } from '../http/csrf.service.js';
import { FormBody } from '../http/form-body.decorator.js';
import type { Form } from '../http/form.js';
import { PageRoute, sendPage } from '../http/send-page.js';
import { PageQuery, pageRequestOf } from '../http/paging.js';
import { badRequest } from '../http/problem.js';
import { safeReturnTo } from '../http/return-to.js';
import { NotificationsService } from '../notifications/notifications.service.js';
import { AccountVisits, actorOf, bindingOf } from './account-visits.js';
import { notificationsPage } from './pages/notifications.page.js';

const PATH = '/account/notifications';

/** All notifications of a user, including security notifications, which no client can see (contract §8). */
@Controller('account/notifications')
export class AccountNotificationsController {
  constructor(
    private readonly visits: AccountVisits,
    private readonly notifications: NotificationsService,
    private readonly csrf: CsrfService,
  ) {}

  /** Newest first. */
  @Get()
  @PageRoute()
  async list(
    @Query() query: PageQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const user = await this.visits.visitor(request, reply, request.url);
    if (!user) return;
    const notifications = await this.notifications.list({ userId: user.id }, pageRequestOf(query));
    const html = notificationsPage({
      frame: this.visits.frame(request, reply, user),
      notifications,
      returnTo: request.url,
      tokenOf: (id) => this.csrf.tokenFor(request, reply, bindingOf(user, `notification ${id}`)),
    });
    sendPage(reply, html);
  }

  /** `mark` is `read` or `resolved`, each of which is set only once; then redirects to the page of the list that was shown. */
  @Post(':id')
  @PageRoute()
  async mark(
    @Param('id') id: string,
    @FormBody() form: Form,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const user = await this.visits.visitor(request, reply, PATH);
    if (!user) return;
    this.csrf.check(request, form, bindingOf(user, `notification ${id}`));
    const mark = form.get('mark');
    if (mark !== 'read' && mark !== 'resolved') {
      throw badRequest('The form is incomplete. Go back, reload the page and try again.');
    }
    const marks = { read: mark === 'read', resolved: mark === 'resolved' };
    await this.notifications.mark(id, { userId: user.id }, marks, actorOf(user, request));
    this.visits.goOn(reply, listPathOf(form), mark);
  }
}

function listPathOf(form: Form): string {
  const returnTo = safeReturnTo(form.get('return_to'));
  return returnTo?.split('?', 1)[0] === PATH ? returnTo : PATH;
}

import { Controller, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CsrfService } from '../http/csrf.service.js';
import { FormBody } from '../http/form-body.decorator.js';
import type { Form } from '../http/form.js';
import { PageRoute, sendPage } from '../http/send-page.js';
import { PageQuery, pageRequestOf } from '../http/paging.js';
import { SessionsService } from '../users/sessions.service.js';
import { AccountVisits, actorOf, bindingOf } from './account-visits.js';
import { sessionsPage } from './pages/sessions.page.js';

const PATH = '/account/sessions';
const OTHERS = 'sign out elsewhere';

/** The sessions of a user, and logging them out. */
@Controller(PATH)
export class AccountSessionsController {
  constructor(
    private readonly visits: AccountVisits,
    private readonly sessions: SessionsService,
    private readonly csrf: CsrfService,
  ) {}

  @Get()
  @PageRoute()
  async list(
    @Query() query: PageQuery,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const user = await this.visits.visitor(request, reply, request.url);
    if (!user) return;
    const { present, others } = await this.sessions.list(user, pageRequestOf(query));
    const html = sessionsPage({
      frame: this.visits.frame(request, reply, user),
      present,
      others,
      othersToken: this.csrf.tokenFor(request, reply, bindingOf(user, OTHERS)),
      tokenOf: (id) => this.csrf.tokenFor(request, reply, bindingOf(user, `session ${id}`)),
    });
    sendPage(reply, html);
  }

  /** Logs out all other sessions; succeeds also if there are none. */
  @Post('sign_out_elsewhere')
  @PageRoute()
  async endOthers(
    @FormBody() form: Form,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const user = await this.visits.visitor(request, reply, PATH);
    if (!user) return;
    this.csrf.check(request, form, bindingOf(user, OTHERS));
    await this.sessions.endOthers(user, actorOf(user, request));
    this.visits.goOn(reply, PATH, 'others_signed_out');
  }

  /** Logs out one session; 404 for a session that is not the user's or has ended. */
  @Post(':id')
  @PageRoute()
  async end(
    @Param('id') id: string,
    @FormBody() form: Form,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const user = await this.visits.visitor(request, reply, PATH);
    if (!user) return;
    this.csrf.check(request, form, bindingOf(user, `session ${id}`));
    await this.sessions.end(user, id, actorOf(user, request));
    this.visits.goOn(reply, PATH, 'signed_out');
  }
}

import { Controller, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ConsentsService } from '../consents/consents.service.js';
import { CsrfService } from '../http/csrf.service.js';
import { FormBody } from '../http/form-body.decorator.js';
import type { Form } from '../http/form.js';
import { PageRoute, sendPage } from '../http/send-page.js';
import { PageQuery, pageRequestOf } from '../http/paging.js';
import { notFound } from '../http/problem.js';
import { isId } from '../secrets/ids.js';
import { ConnectedClientsService } from '../tokens/connected-clients.service.js';
import { AccountVisits, actorOf, bindingOf } from './account-visits.js';
import { applicationsPage } from './pages/applications.page.js';
import { disconnectPage } from './pages/disconnect.page.js';

/** The applications that a user shares data with, and disconnecting them. */
@Controller('account')
export class AccountApplicationsController {
  constructor(
    private readonly visits: AccountVisits,
    private readonly connected: ConnectedClientsService,
    private readonly consents: ConsentsService,
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
    const clients = await this.connected.list(user.id, pageRequestOf(query));
    sendPage(reply, applicationsPage({ frame: this.visits.frame(request, reply, user), clients }));
  }

  /** The confirmation page for disconnecting; 404 for an application that is not connected. */
  @Get('applications/:client_id')
  @PageRoute()
  async confirm(
    @Param('client_id') clientId: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const user = await this.visits.visitor(request, reply, request.url);
    if (!user) return;
    const client = await this.connected.get(user.id, clientId);
    const csrfToken = this.csrf.tokenFor(request, reply, bindingOf(user, `disconnect ${clientId}`));
    sendPage(reply, disconnectPage({ frame: this.visits.frame(request, reply, user), client, csrfToken }));
  }

  /** Revokes the consent, which ends the client's tokens for this user immediately (contract §4). */
  @Post('applications/:client_id')
  @PageRoute()
  async disconnect(
    @Param('client_id') clientId: string,
    @FormBody() form: Form,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const user = await this.visits.visitor(request, reply, '/account');
    if (!user) return;
    this.csrf.check(request, form, bindingOf(user, `disconnect ${clientId}`));
    if (!isId('clnt', clientId)) throw notFound('No such application is connected to your account.');
    await this.consents.withdraw(clientId, user.id, actorOf(user, request));
    this.visits.goOn(reply, '/account', 'disconnected');
  }
}

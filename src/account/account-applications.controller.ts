import { Param, Query } from '@nestjs/common';
import { ClientsService } from '../clients/clients.service.js';
import { ConsentsService } from '../consents/consents.service.js';
import { DisclosureHistoryService } from '../disclosures/disclosure-history.service.js';
import { MembersService } from '../partners/members/members.service.js';
import { Context } from '../http/page-routes/page-context.js';
import { PageQuery, pageRequestOf } from '../http/api/page-query.js';
import { notFound } from '../http/problems/problem.js';
import { isId } from '../secrets/ids.js';
import { ConnectedClientsService } from '../tokens/grants/connected-clients.service.js';
import type { AccountAnswer, AccountContext } from './account-context.js';
import { AccountGet, AccountPages, AccountPost } from './account-pages.decorator.js';
import { applicationsPage } from './pages/applications.page.js';
import { disconnectPage } from './pages/disconnect.page.js';
import { historyPage } from './pages/history.page.js';

/** The applications that a user shares data with, and disconnecting them. */
@AccountPages()
export class AccountApplicationsController {
  constructor(
    private readonly connected: ConnectedClientsService,
    private readonly consents: ConsentsService,
    private readonly clients: ClientsService,
    private readonly members: MembersService,
    private readonly history: DisclosureHistoryService,
  ) {}

  @AccountGet()
  async list(@Context() context: AccountContext, @Query() query: PageQuery): Promise<AccountAnswer> {
    const { id } = context.user;
    const [clients, former, ownsClients, isMember] = await Promise.all([
      this.connected.list(id, pageRequestOf(query)),
      this.history.formerClients(id),
      this.clients.hasAny(id),
      this.members.isMemberOfAny(id),
    ]);
    return { page: applicationsPage(clients, former, ownsClients || isMember) };
  }

  /** The confirmation page for disconnecting; 404 for an application that is not connected. */
  @AccountGet('applications/:client_id')
  async confirm(
    @Context() context: AccountContext,
    @Param('client_id') clientId: string,
  ): Promise<AccountAnswer> {
    return { page: disconnectPage(await this.connected.get(context.user.id, clientId)) };
  }

  /** What an application read, by day, also of one that is no longer connected; 404 for one that never was. */
  @AccountGet('applications/:client_id/history')
  async showHistory(
    @Context() context: AccountContext,
    @Param('client_id') clientId: string,
    @Query('month') month: unknown,
  ): Promise<AccountAnswer> {
    return { page: historyPage(await this.history.of(context.user.id, clientId), month) };
  }

  /** Revokes the consent, which ends the client's tokens for this user immediately (contract §4). */
  @AccountPost('applications/:client_id')
  async disconnect(
    @Context() context: AccountContext,
    @Param('client_id') clientId: string,
  ): Promise<AccountAnswer> {
    if (!isId('clnt', clientId)) throw notFound('No such application is connected to your account.');
    await this.consents.withdraw(clientId, context.user.id, context.actor);
    return { goTo: '/account', notice: 'disconnected' };
  }
}

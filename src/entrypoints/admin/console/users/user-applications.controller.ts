import { Param } from '@nestjs/common';
import { ConsentsService } from '#access/consents/consents.service.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { ConnectedClientsService } from '#access/tokens/grants/connected-clients.service.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { pageIn } from '../filtered-list.js';
import { disconnectClientPage, userApplicationsPage } from './user-applications.pages.js';
import { userPath } from './user-layout.js';

/** The applications that a user shares data with, and disconnecting them. */
@ConsolePages('users/:id/applications')
export class ConsoleUserApplicationsController {
  constructor(
    private readonly users: UsersService,
    private readonly connected: ConnectedClientsService,
    private readonly consents: ConsentsService,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const page = await this.connected.list(id, await pageIn(context.url));
    return { page: userApplicationsPage({ user, page }) };
  }

  @ConsoleGet(':client_id/disconnect', 'asked', 'support')
  async askToDisconnect(
    @Param('id') id: string,
    @Param('client_id') clientId: string,
  ): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const client = await this.connected.get(id, clientId);
    return { page: disconnectClientPage({ user, client }) };
  }

  /** Revokes the consent and everything that depends on it, immediately. */
  @ConsolePost(':client_id/disconnect', 'asked', 'support')
  async disconnect(
    @Context() context: ConsoleContext,
    @Param('id') id: string,
    @Param('client_id') clientId: string,
  ): Promise<ConsoleAnswer> {
    await this.consents.revoke(clientId, id, context.actor);
    return { goTo: userPath(id, 'applications'), notice: 'disconnected' };
  }
}

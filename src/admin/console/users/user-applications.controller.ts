import { Param } from '@nestjs/common';
import { ConsentsService } from '../../../consents/consents.service.js';
import { PageQuery, pageRequestOf } from '../../../http/paging.js';
import { ConnectedClientsService } from '../../../tokens/connected-clients.service.js';
import { UsersService } from '../../../users/users.service.js';
import { ConsolePages, ConsolePost, ConsoleGet, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { listQuery } from '../list-query.js';
import { disconnectClientPage, userApplicationsPage } from './user-applications.pages.js';
import { userPath } from './user-frame.js';

/** The applications that a user shares data with, and disconnecting them. */
@ConsolePages('users/:id/applications')
export class ConsoleUserApplicationsController {
  constructor(
    private readonly users: UsersService,
    private readonly connected: ConnectedClientsService,
    private readonly consents: ConsentsService,
  ) {}

  @ConsoleGet()
  async list(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const page = await this.connected.list(id, pageRequestOf(await listQuery(PageQuery, visit.url)));
    return { html: userApplicationsPage({ frame: visit.frame, user, page }) };
  }

  @ConsoleGet(':client_id/disconnect', 'asked')
  async askToDisconnect(
    @Visit() visit: ConsoleVisit,
    @Param('id') id: string,
    @Param('client_id') clientId: string,
  ): Promise<ConsoleAnswer> {
    const user = await this.users.get(id);
    const client = await this.connected.get(id, clientId);
    const csrfToken = visit.tokenFor(userPath(id, `applications/${clientId}/disconnect`));
    return { html: disconnectClientPage({ frame: visit.frame, user, client, csrfToken }) };
  }

  /** Revokes the consent and everything that depends on it, immediately. */
  @ConsolePost(':client_id/disconnect', 'asked')
  async disconnect(
    @Visit() visit: ConsoleVisit,
    @Param('id') id: string,
    @Param('client_id') clientId: string,
  ): Promise<ConsoleAnswer> {
    await this.consents.revoke(clientId, id, visit.actor);
    return { goTo: userPath(id, 'applications'), notice: 'disconnected' };
  }
}

import { Param } from '@nestjs/common';
import { ClientsService } from '../../../clients/clients.service.js';
import { ConsentsService } from '../../../consents/consents.service.js';
import { GrantsService } from '../../../tokens/grants.service.js';
import { EndpointsService, ENDPOINTS_PER_CLIENT } from '../../../webhooks/endpoints/endpoints.service.js';
import { ConsolePages, ConsolePost, ConsoleGet, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { clientEndingPage, COUNTED_UP_TO, type ClientEnding } from './client-ending.page.js';
import { CLIENTS_PATH, clientPath } from './client-frame.js';

/** Actions that end a client or what it holds, each with a page before it that says so. */
@ConsolePages('clients/:client_id')
export class ConsoleClientEndingsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly consents: ConsentsService,
    private readonly grants: GrantsService,
    private readonly endpoints: EndpointsService,
  ) {}

  @ConsoleGet('disable', 'asked')
  askToDisable(@Visit() visit: ConsoleVisit, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    return this.ask(visit, id, 'disable');
  }

  @ConsolePost('disable', 'asked')
  async disable(@Visit() visit: ConsoleVisit, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    await this.clients.update(id, { enabled: false }, visit.actor);
    return { goTo: clientPath(id), notice: 'client_disabled' };
  }

  @ConsolePost('enable', 'asked on the page above')
  async enable(@Visit() visit: ConsoleVisit, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    await this.clients.update(id, { enabled: true }, visit.actor);
    return { goTo: clientPath(id), notice: 'client_enabled' };
  }

  @ConsoleGet('revoke', 'asked')
  askToRevoke(@Visit() visit: ConsoleVisit, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    return this.ask(visit, id, 'revoke');
  }

  @ConsolePost('revoke', 'asked')
  async revoke(@Visit() visit: ConsoleVisit, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    await this.clients.revokeTokens(id, visit.actor);
    return { goTo: clientPath(id), notice: 'tokens_revoked' };
  }

  @ConsoleGet('delete', 'asked')
  askToDelete(@Visit() visit: ConsoleVisit, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    return this.ask(visit, id, 'delete');
  }

  @ConsolePost('delete', 'asked')
  async delete(@Visit() visit: ConsoleVisit, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    await this.clients.delete(id, visit.actor);
    return { goTo: CLIENTS_PATH, notice: 'client_deleted' };
  }

  private async ask(visit: ConsoleVisit, id: string, ending: ClientEnding): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const [users, grants, endpoints] = await Promise.all([
      this.consents.countLive(id, COUNTED_UP_TO),
      this.grants.countLive({ clientId: id }, COUNTED_UP_TO),
      this.endpoints.list(id, { size: ENDPOINTS_PER_CLIENT }),
    ]);
    const csrfToken = visit.tokenFor(clientPath(id, ending));
    const holds = { users, grants, endpoints: endpoints.items.length };
    return { html: clientEndingPage({ frame: visit.frame, client, ending, holds, csrfToken }) };
  }
}

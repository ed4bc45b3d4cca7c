import { Param } from '@nestjs/common';
import { ClientsService } from '#access/clients/clients.service.js';
import { Settings } from '#platform/config/settings.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ReadsMuch } from '#platform/http/page-routes/large-reads.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import { EndpointsService, ENDPOINTS_PER_CLIENT } from '#events/webhooks/endpoints/endpoints.service.js';
import { FourEyes } from '../../approvals/four-eyes.service.js';
import { waitingFor } from '../approvals/waiting-for.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { clientActionPage, COUNTED_UP_TO, type ClientAction } from './client-action.page.js';
import { CLIENTS_PATH, clientPath } from './client-layout.js';

/** Actions that end a client or what it holds, each behind a confirmation page. */
@ConsolePages('clients/:client_id')
export class ConsoleClientActionsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly consents: ConsentsService,
    private readonly grants: GrantsService,
    private readonly endpoints: EndpointsService,
    private readonly fourEyes: FourEyes,
    private readonly settings: Settings,
  ) {}

  @ConsoleGet('disable', 'asked')
  @ReadsMuch()
  askToDisable(@Param('client_id') id: string): Promise<ConsoleAnswer> {
    return this.ask(id, 'disable');
  }

  @ConsolePost('disable', 'asked')
  async disable(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    await this.clients.update(id, { enabled: false }, context.actor);
    return { goTo: clientPath(id), notice: 'client_disabled' };
  }

  @ConsolePost('enable', 'asked on the page above')
  async enable(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const outcome = await this.fourEyes.updateClient(id, { enabled: true }, context.actor);
    return outcome.waiting ? waitingFor(outcome.waiting) : { goTo: clientPath(id), notice: 'client_enabled' };
  }

  @ConsoleGet('revoke', 'asked', 'support')
  @ReadsMuch()
  askToRevoke(@Param('client_id') id: string): Promise<ConsoleAnswer> {
    return this.ask(id, 'revoke');
  }

  @ConsolePost('revoke', 'asked', 'support')
  async revoke(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    await this.clients.revokeTokens(id, context.actor);
    return { goTo: clientPath(id), notice: 'tokens_revoked' };
  }

  @ConsoleGet('delete', 'asked')
  @ReadsMuch()
  askToDelete(@Param('client_id') id: string): Promise<ConsoleAnswer> {
    return this.ask(id, 'delete');
  }

  @ConsolePost('delete', 'asked')
  async delete(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const outcome = await this.fourEyes.deleteClient(id, context.actor);
    if (outcome.waiting) return waitingFor(outcome.waiting);
    return { goTo: CLIENTS_PATH, notice: 'client_deleted' };
  }

  private async ask(id: string, action: ClientAction): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const [users, grants, endpoints] = await Promise.all([
      this.consents.countLive(id, COUNTED_UP_TO),
      this.grants.countLive({ clientId: id }, COUNTED_UP_TO),
      this.endpoints.list(id, { size: ENDPOINTS_PER_CLIENT }),
    ]);
    const holds = { users, grants, endpoints: endpoints.items.length };
    return { page: clientActionPage({ client, action, holds, fourEyes: this.settings.fourEyes }) };
  }
}

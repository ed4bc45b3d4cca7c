import { Param } from '@nestjs/common';
import { ClientsService } from '#access/clients/clients.service.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { requestListQuery } from '#events/partners/request-log/request-filter.js';
import { RequestLogService } from '#events/partners/request-log/request-log.service.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsoleGet } from '../console-pages.decorator.js';
import { clientRequestsPage } from './client-requests.page.js';

/** The last requests of a client, to find one by the request id that a partner quotes. */
@ConsolePages('clients/:client_id/requests')
export class ConsoleClientRequestsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly log: RequestLogService,
  ) {}

  /** Newest first; `status` and `request_id` filter. */
  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const query = requestListQuery(context.query);
    return { page: clientRequestsPage(client, await this.log.list(id, query.filter), query) };
  }
}

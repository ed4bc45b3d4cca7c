import { Param, Query } from '@nestjs/common';
import { ClientsService } from '../../../clients/clients.service.js';
import { requestFilterOf } from '../../../partners/request-log/request-filter.js';
import { RequestLogService } from '../../../partners/request-log/request-log.service.js';
import type { ConsoleAnswer } from '../console-context.js';
import { ConsolePages, ConsoleGet } from '../console-pages.decorator.js';
import { clientRequestsPage } from './client-requests.page.js';

/** The last requests of a client, where the one is found whose id a partner quotes. */
@ConsolePages('clients/:client_id/requests')
export class ConsoleClientRequestsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly log: RequestLogService,
  ) {}

  /** Newest first; `status` and `request_id` filter. */
  @ConsoleGet('', 'not asked', 'viewer')
  async list(
    @Param('client_id') id: string,
    @Query('status') status: unknown,
    @Query('request_id') requestId: unknown,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const { typed, filter } = requestFilterOf(status, requestId);
    return { page: clientRequestsPage(client, await this.log.list(id, filter), typed) };
  }
}

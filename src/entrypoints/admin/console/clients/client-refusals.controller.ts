import { Param } from '@nestjs/common';
import { REFUSALS } from '#records/activity/activity.js';
import { ActivityService } from '#records/activity/activity.service.js';
import { DAY_MS } from '#platform/config/durations.js';
import { ClientsService } from '#access/clients/clients.service.js';
import type { ConsoleAnswer } from '../console-context.js';
import { ConsolePages, ConsoleGet } from '../console-pages.decorator.js';
import { refusalsPage } from './refusals.page.js';

const WEEK_MS = 7 * DAY_MS;

/** Why a partner's requests are refused. */
@ConsolePages('clients/:client_id/refusals')
export class ConsoleClientRefusalsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly activity: ActivityService,
  ) {}

  /** Requests refused within a week, latest first, including what this instance has only just counted. */
  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Param('client_id') id: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    await this.activity.flush();
    const since = new Date(Date.now() - WEEK_MS);
    const [refusals, issued] = await Promise.all([
      this.activity.ofClient(id, REFUSALS, since),
      this.activity.ofClient(id, ['token_issued'], since),
    ]);
    return { page: refusalsPage({ client, refusals, issued }) };
  }
}

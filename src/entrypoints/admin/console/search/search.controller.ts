import { Param, Query } from '@nestjs/common';
import { AuditService } from '#records/audit/audit.service.js';
import { ReadsMuch } from '#platform/http/page-routes/large-reads.js';
import { notFound } from '#platform/http/problems/problem.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import type { ConsoleAnswer } from '../console-context.js';
import { ConsoleGet, ConsolePages } from '../console-pages.decorator.js';
import { onlyHit, wantedIn } from '#platform/web/search/hits.js';
import { Pickers } from '../pickers.service.js';
import { ConsoleSearch } from './console-search.service.js';
import { explainedRequestPage } from './explained-request.page.js';
import { KnownRequests } from '#events/partners/request-log/known-requests.service.js';
import { searchPage } from './search.page.js';

const LISTED = { size: 10 };

/** One search over everything, and the page that explains a request. */
@ConsolePages()
export class ConsoleSearchController {
  constructor(
    private readonly search: ConsoleSearch,
    private readonly requests: KnownRequests,
    private readonly audit: AuditService,
    private readonly deliveries: DeliveriesService,
    private readonly pickers: Pickers,
  ) {}

  /** Redirects if there is only one hit. */
  @ConsoleGet('search', 'not asked', 'viewer')
  @ReadsMuch()
  async find(@Query('q') given?: unknown): Promise<ConsoleAnswer> {
    const wanted = wantedIn(given);
    const found = wanted === undefined ? [] : await this.search.find(wanted);
    const only = onlyHit(found);
    return only ? { goTo: only.href } : { page: searchPage(wanted, found) };
  }

  @ConsoleGet('requests/:request_id', 'not asked', 'viewer')
  async explain(@Param('request_id') id: string): Promise<ConsoleAnswer> {
    const requests = await this.requests.withId(id);
    const [latest] = requests;
    if (!latest) {
      throw notFound(
        'There is no record of this request. Refused requests are kept for seven days, the last 200 of each client, and some of the others.',
      );
    }
    const [around, changes, deliveries] = await Promise.all([
      this.requests.around(latest),
      this.audit.list({ requestId: id }, LISTED),
      this.deliveries.list({ requestId: id }, LISTED),
    ]);
    const caused = { changes: changes.items, deliveries: deliveries.items };
    const names = await this.pickers.namesOf(
      [...requests, ...caused.deliveries].map((each) => each.clientId),
    );
    return { page: explainedRequestPage({ id, requests, around, names, ...caused }) };
  }
}

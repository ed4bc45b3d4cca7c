import { AuditService } from '../../../audit/audit.service.js';
import { pageRequestOf } from '../../../http/paging.js';
import { AuditEventsQuery } from '../../admin-audit-events.dto.js';
import { ConsolePages, ConsoleGet, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt } from '../form-attempt.js';
import { listQuery, NOTHING, typedFilter } from '../list-query.js';
import { auditPage } from './audit.page.js';

/** The audit log in the console, newest first. */
@ConsolePages('audit')
export class ConsoleAuditController {
  constructor(private readonly audit: AuditService) {}

  @ConsoleGet()
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(AuditEventsQuery, visit.url));
    if (errors) {
      const { actor, subject, action, since } = typedFilter(visit.url);
      const filter = { actor, subject, action, since };
      return { html: auditPage({ frame: visit.frame, filter, page: NOTHING, errors }), status: 400 };
    }
    const { actor, subject, action, since } = query;
    const filter = { actor, subject, action, since: since === undefined ? undefined : new Date(since) };
    const page = await this.audit.list(filter, pageRequestOf(query));
    return { html: auditPage({ frame: visit.frame, filter: { actor, subject, action, since }, page }) };
  }
}

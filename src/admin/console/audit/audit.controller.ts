import { AuditService } from '../../../audit/audit.service.js';
import { pageRequestOf } from '../../../http/paging.js';
import { AuditEventsQuery } from '../../admin-audit-events.dto.js';
import { ConsolePages, Shows, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt } from '../form-attempt.js';
import { listQuery } from '../list-query.js';
import { auditPage } from './audit.page.js';

/** The audit trail in the console, newest first. */
@ConsolePages('audit')
export class ConsoleAuditController {
  constructor(private readonly audit: AuditService) {}

  @Shows()
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(AuditEventsQuery, visit.url));
    if (errors) {
      const page = { items: [], hasNext: false, hasPrevious: false };
      return { html: auditPage({ frame: visit.frame, filter: {}, page, errors }), status: 400 };
    }
    const { actor, subject, action, since } = query;
    const filter = { actor, subject, action, since: since === undefined ? undefined : new Date(since) };
    const page = await this.audit.list(filter, pageRequestOf(query));
    return { html: auditPage({ frame: visit.frame, filter: { actor, subject, action, since }, page }) };
  }
}

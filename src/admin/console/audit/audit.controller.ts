import { AuditService } from '../../../audit/audit.service.js';
import { Context } from '../../../http/page-routes/page-context.js';
import { auditFilterOf, AuditEventsQuery } from '../../api/audit-events/admin-audit-events.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsoleGet } from '../console-pages.decorator.js';
import { filteredList } from '../filtered-list.js';
import { auditPage } from './audit.page.js';

/** The audit log in the console, newest first. */
@ConsolePages('audit')
export class ConsoleAuditController {
  constructor(private readonly audit: AuditService) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const list = await filteredList(AuditEventsQuery, context.url, (query, page) =>
      this.audit.list(auditFilterOf(query), page),
    );
    return { page: auditPage(list), status: list.errors ? 400 : 200 };
  }
}

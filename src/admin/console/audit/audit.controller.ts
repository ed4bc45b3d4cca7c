import { AuditService } from '../../../audit/audit.service.js';
import { pageRequestOf } from '../../../http/paging.js';
import { Context } from '../../../http/page-routes/page-context.js';
import { AuditEventsQuery } from '../../admin-audit-events.dto.js';
import { ConsolePages, ConsoleGet } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { attempt } from '../form-attempt.js';
import { listQuery, NOTHING, typedFilter } from '../list-query.js';
import { auditPage } from './audit.page.js';

/** The audit log in the console, newest first. */
@ConsolePages('audit')
export class ConsoleAuditController {
  constructor(private readonly audit: AuditService) {}

  @ConsoleGet()
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(AuditEventsQuery, context.url));
    if (errors) {
      const { actor, subject, action, since } = typedFilter(context.url);
      const filter = { actor, subject, action, since };
      return {
        html: auditPage({ layoutProps: context.layoutProps, filter, page: NOTHING, errors }),
        status: 400,
      };
    }
    const { actor, subject, action, since } = query;
    const filter = { actor, subject, action, since: since === undefined ? undefined : new Date(since) };
    const page = await this.audit.list(filter, pageRequestOf(query));
    return {
      html: auditPage({ layoutProps: context.layoutProps, filter: { actor, subject, action, since }, page }),
    };
  }
}

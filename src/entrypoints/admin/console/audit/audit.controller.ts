import type { AuditEventEntity } from '#records/audit/audit-event.entity.js';
import { AuditService } from '#records/audit/audit.service.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import type { CsvColumns } from '#platform/http/page-routes/csv-answer.js';
import { ReadsMuch } from '#platform/http/page-routes/large-reads.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { auditFilterOf, ConsoleAuditEventsQuery } from '../../api/audit-events/admin-audit-events.dto.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsoleGet } from '../console-pages.decorator.js';
import { PersonalExports } from '../personal-exports.service.js';
import { filteredList } from '../filtered-list.js';
import { Pickers } from '../pickers.service.js';
import { auditPage } from './audit.page.js';

const AUDIT_CSV: CsvColumns<AuditEventEntity> = [
  ['id', ({ id }) => id],
  ['occurred_at', ({ occurredAt }) => occurredAt],
  ['action', ({ action }) => action],
  ['actor_type', ({ actorType }) => actorType],
  ['actor_id', ({ actorId }) => actorId],
  ['subject_type', ({ subjectType }) => subjectType],
  ['subject_id', ({ subjectId }) => subjectId],
  ['address', ({ address }) => address],
  ['request_id', ({ requestId }) => requestId],
  ['before', ({ before }) => before && JSON.stringify(before)],
  ['after', ({ after }) => after && JSON.stringify(after)],
];

/** The audit log in the console, newest first. */
@ConsolePages('audit')
export class ConsoleAuditController {
  constructor(
    private readonly audit: AuditService,
    private readonly exports: PersonalExports,
    private readonly pickers: Pickers,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const list = await filteredList(ConsoleAuditEventsQuery, context.url, this.read);
    const [names, actors, actions] = await Promise.all([
      this.pickers.namesOf(
        (list.page?.items ?? []).flatMap(({ actorId, subjectId }) => [actorId, subjectId]),
      ),
      this.pickers.actors(),
      this.pickers.actions(),
    ]);
    return { page: auditPage({ list, names, offers: { actors, actions } }), status: list.errors ? 400 : 200 };
  }

  /** Contains the addresses of many people, so only for admins who entered their password recently. */
  @ConsoleGet('csv', 'asked')
  @ReadsMuch()
  download(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    return this.exports.of(context, 'audit-log', AUDIT_CSV, ConsoleAuditEventsQuery, this.read);
  }

  private readonly read = (
    query: ConsoleAuditEventsQuery,
    page: PageRequest,
  ): Promise<Page<AuditEventEntity>> => this.audit.list(auditFilterOf(query), page);
}

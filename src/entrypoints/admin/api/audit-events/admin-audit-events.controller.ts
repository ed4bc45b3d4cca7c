import { Controller, Get, Query } from '@nestjs/common';
import { AuditService } from '#records/audit/audit.service.js';
import { ApiPage } from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { AdminApi, AdminRead } from '../admin-api.decorator.js';
import { auditFilterOf, AuditEventsQuery, AuditEventView } from './admin-audit-events.dto.js';

/** The audit log in the admin API (contract §12). */
@Controller('admin/audit_events')
@AdminApi()
export class AdminAuditEventsController {
  constructor(private readonly audit: AuditService) {}

  @Get()
  @AdminRead('listAuditEvents', 'The audit log, newest first', 'Newest first; all given filters must match.')
  @ApiPage(AuditEventView)
  async list(@Query() query: AuditEventsQuery): Promise<ListAnswer<AuditEventView>> {
    const filter = auditFilterOf(query);
    return listAnswer(await this.audit.list(filter, pageRequestOf(query)), AuditEventView.of);
  }
}

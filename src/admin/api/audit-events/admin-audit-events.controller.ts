import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AuditService } from '../../../audit/audit.service.js';
import { Settings } from '../../../config/settings.js';
import { ApiPage } from '../../../http/api/api-answers.js';
import { pageRequestOf, setPageLinks } from '../../../http/api/page-query.js';
import { AdminApi, AdminRead } from '../admin-api.decorator.js';
import { auditFilterOf, AuditEventsQuery } from './admin-audit-events.dto.js';
import { AuditEventView, auditEventView } from './admin-audit-events.view.js';

/** The audit log in the admin API (contract §12). */
@Controller('admin/audit_events')
@AdminApi()
export class AdminAuditEventsController {
  constructor(
    private readonly settings: Settings,
    private readonly audit: AuditService,
  ) {}

  /** The log, newest first, paged; `actor`, `subject`, `action`, `request_id` and `since` (ISO 8601) filter the list. */
  @Get()
  @AdminRead('listAuditEvents', 'The audit log, newest first', 'Newest first; all given filters must match.')
  @ApiPage(AuditEventView)
  async list(
    @Query() query: AuditEventsQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<AuditEventView[]> {
    const filter = auditFilterOf(query);
    const page = await this.audit.list(filter, pageRequestOf(query));
    setPageLinks(request, reply, this.settings.baseUrl, page, (event) => event.id);
    return page.items.map(auditEventView);
  }
}

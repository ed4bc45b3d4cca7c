import { Controller, Get, Post, Query, UseGuards } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import {
  ApiAnswer,
  ApiBehind,
  ApiNoContent,
  ApiPage,
  ApiProblems,
  PathId,
  PathParam,
} from '#platform/http/api/api-answers.js';
import { idOf } from '#platform/http/api/api-schemas.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { ApprovalsService } from './approvals.service.js';
import { AdminApi, AdminRead, AdminWrite } from '#entrypoints/admin/api/admin-api.decorator.js';
import { EmptyBodyGuard } from '#platform/http/api/empty-body.guard.js';
import { ApprovalsQuery, ApprovalView } from './admin-approvals.dto.js';

/** What waits for a second admin, in the admin API (contract §17). */
@Controller('admin/approvals')
@AdminApi()
export class AdminApprovalsController {
  constructor(private readonly approvals: ApprovalsService) {}

  @Get()
  @AdminRead(
    'listApprovals',
    'Approvals, newest first',
    'With `FOUR_EYES=true`, erasing a user, deleting a client, and what makes an admin or takes over an operator wait for a second admin.',
  )
  @ApiBehind('listAuditEvents')
  @ApiPage(ApprovalView)
  async list(@Query() query: ApprovalsQuery): Promise<ListAnswer<ApprovalView>> {
    return listAnswer(await this.approvals.list(query.state, pageRequestOf(query)), ApprovalView.of);
  }

  @Post(':id/approve')
  @AdminWrite(
    'approve',
    'Only a person approves, in the console: always 403',
    'Nobody knows who holds the secret of a client. An admin approves on the page “Approvals” of the console.',
  )
  @ApiBehind('listAuditEvents')
  @ApiNoContent('Never: no token approves.')
  @UseGuards(EmptyBodyGuard)
  async approve(@PathParam('id', idOf('appr')) id: string, @CurrentActor() actor: Actor): Promise<void> {
    await this.approvals.approve(id, actor);
  }

  @Post(':id/reject')
  @AdminWrite(
    'reject',
    'Reject what an admin asked for',
    'Also for the person who asked for it. What is not pending: 409.',
  )
  @ApiBehind('listAuditEvents')
  @ApiAnswer(200, 'Rejected.', ApprovalView)
  @ApiProblems(409)
  @UseGuards(EmptyBodyGuard)
  async reject(@PathId('id', 'appr') id: string, @CurrentActor() actor: Actor): Promise<ApprovalView> {
    return ApprovalView.of(await this.approvals.reject(id, actor));
  }
}

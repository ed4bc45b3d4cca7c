import { Param } from '@nestjs/common';
import { ClientsService } from '../../../clients/clients.service.js';
import { Context } from '../../../http/page-routes/page-context.js';
import { UsersService } from '../../../users/accounts/users.service.js';
import { ApprovalsQuery } from '../../api/approvals/admin-approvals.dto.js';
import type { ApprovalEntity } from '../../approvals/approval.entity.js';
import { ApprovalsService } from '../../approvals/approvals.service.js';
import type { ConsoleAnswer, ConsoleContext, ConsoleNotice } from '../console-context.js';
import { ConsoleGet, ConsolePages, ConsolePost } from '../console-pages.decorator.js';
import { filteredList } from '../filtered-list.js';
import { attempt, type FieldErrors } from '../form-attempt.js';
import { partyNames, type PartyNames } from '../pages/party-names.js';
import { approvalPage, approvalsPage } from './approvals.pages.js';
import { approvalPath } from './waiting-for.js';

/** What waits for a second admin, with the forms to approve and to reject it. */
@ConsolePages('approvals')
export class ConsoleApprovalsController {
  constructor(
    private readonly approvals: ApprovalsService,
    private readonly users: UsersService,
    private readonly clients: ClientsService,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const list = await filteredList(ApprovalsQuery, context.url, ({ state }, page) =>
      this.approvals.list(state, page),
    );
    const names = await this.namesIn(list.page?.items ?? []);
    return { page: approvalsPage(list, names), status: list.errors ? 400 : 200 };
  }

  @ConsoleGet(':id', 'not asked', 'viewer')
  show(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.page(context, id);
  }

  /** Carries it out; what became impossible meanwhile stays pending, with the reason. */
  @ConsolePost(':id/approve', 'asked on the page above')
  approve(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.decide(context, id, 'approved', () => this.approvals.approve(id, context.actor));
  }

  @ConsolePost(':id/reject', 'asked on the page above')
  reject(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.decide(context, id, 'approval_rejected', () => this.approvals.reject(id, context.actor));
  }

  private async decide(
    context: ConsoleContext,
    id: string,
    notice: ConsoleNotice,
    work: () => Promise<ApprovalEntity>,
  ): Promise<ConsoleAnswer> {
    const { errors } = await attempt(work);
    return errors ? this.page(context, id, errors) : { goTo: approvalPath(id), notice };
  }

  private async page({ user }: ConsoleContext, id: string, errors?: FieldErrors): Promise<ConsoleAnswer> {
    const approval = await this.approvals.get(id);
    const isOwn = approval.requestedByPerson === user.id;
    const names = await this.namesIn([approval]);
    return { page: approvalPage({ approval, names, isOwn, errors }), status: errors ? 409 : 200 };
  }

  private namesIn(approvals: ApprovalEntity[]): Promise<PartyNames> {
    const ids = approvals.flatMap(({ subjectId, requestedById, decidedById }) => [
      subjectId,
      requestedById,
      decidedById,
    ]);
    return partyNames({ users: this.users, clients: this.clients }, ids);
  }
}

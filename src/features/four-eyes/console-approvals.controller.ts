import { Param } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { ApprovalsQuery } from './admin-approvals.dto.js';
import { personBehind, type ApprovalEntity } from './approval.entity.js';
import { ApprovalsService, type Approved } from './approvals.service.js';
import { secretShownPath } from '#entrypoints/admin/console/clients/secret.page.js';
import type { ShownSecret } from '#platform/web/layout/new-client-secret.js';
import type { ConsoleAnswer, ConsoleContext } from '#entrypoints/admin/console/console-context.js';
import { userPath } from '#entrypoints/admin/console/users/user-layout.js';
import { CONSOLE_NOTICES } from '#entrypoints/admin/console/console-notices.js';
import { ConsoleGet, ConsolePages, ConsolePost } from '#entrypoints/admin/console/console-pages.decorator.js';
import { filteredList } from '#entrypoints/admin/console/filtered-list.js';
import { attempt } from '#entrypoints/admin/console/form-attempt.js';
import { partyNames, type PartyNames } from '#entrypoints/admin/console/pages/lists.js';
import { approvalPage, approvalPath, approvalsPage } from './console-approvals.pages.js';
import type { FieldErrors } from '#platform/web/forms/field.js';

const NOTICES = CONSOLE_NOTICES.add({
  approved: 'Approved and carried out.',
  approval_seconded: 'You are responsible for this request now. A second admin has to approve it too.',
  approval_rejected: 'Rejected. Nothing was done.',
});

/** Requests that wait for a second admin, with forms to approve and reject them. */
@ConsolePages('approvals')
export class ConsoleApprovalsController {
  constructor(
    private readonly approvals: ApprovalsService,
    private readonly users: UsersService,
    private readonly clients: ClientsService,
    private readonly settings: Settings,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const list = await filteredList(ApprovalsQuery, context.url, ({ state }, page) =>
      this.approvals.list(state, page),
    );
    const names = await this.namesIn(list.page?.items ?? []);
    return { page: approvalsPage(list, names, this.settings.fourEyes), status: list.errors ? 400 : 200 };
  }

  @ConsoleGet(':id', 'not asked', 'viewer')
  show(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.page(context, id);
  }

  /**
   * Approves and carries out a request. If it became impossible in the meantime, it stays pending and the page shows the reason.
   */
  @ConsolePost(':id/approve', 'asked on the page above')
  async approve(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const { result, errors } = await attempt(() => this.approvals.approve(id, context.actor));
    return errors ? this.page(context, id, errors) : afterApproval(result);
  }

  @ConsolePost(':id/reject', 'asked on the page above')
  async reject(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const { errors } = await attempt(() => this.approvals.reject(id, context.actor));
    return errors
      ? this.page(context, id, errors)
      : { goTo: approvalPath(id), notice: NOTICES.approval_rejected };
  }

  private async page({ user }: ConsoleContext, id: string, errors?: FieldErrors): Promise<ConsoleAnswer> {
    const approval = await this.approvals.get(id);
    const isOwn = personBehind(approval) === user.id;
    const isAboutSelf = approval.subjectId === user.id;
    const { gaveSecondFactor } = user;
    const names = await this.namesIn([approval]);
    const page = approvalPage({ approval, names, isOwn, isAboutSelf, gaveSecondFactor, errors });
    return { page, status: errors ? 409 : 200 };
  }

  private namesIn(approvals: ApprovalEntity[]): Promise<PartyNames> {
    const ids = approvals.flatMap(({ subjectId, requestedById, secondedBy, decidedById }) => [
      subjectId,
      requestedById,
      secondedBy,
      decidedById,
    ]);
    return partyNames({ users: this.users, clients: this.clients }, ids);
  }
}

/** Redirects to what was created, which is shown once to the person who approved it; otherwise back to the approval. */
function afterApproval({ approval, shown }: Approved): ConsoleAnswer {
  const { id, subjectId } = approval;
  if (approval.state === 'pending') return { goTo: approvalPath(id), notice: NOTICES.approval_seconded };
  if (!shown) return { goTo: approvalPath(id), notice: NOTICES.approved };
  if ('passwordLink' in shown) {
    return { goTo: userPath(subjectId, 'password-link'), showOnce: { url: shown.passwordLink } };
  }
  const previousSecretExpiresAt = shown.previousSecretExpiresAt?.toISOString() ?? null;
  const showOnce: ShownSecret = { ...shown, previousSecretExpiresAt };
  return { goTo: secretShownPath(subjectId), showOnce };
}

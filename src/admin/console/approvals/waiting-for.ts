import type { ApprovalEntity } from '../../approvals/approval.entity.js';
import type { ConsoleAnswer } from '../console-context.js';

export const APPROVALS_PATH = '/admin/console/approvals';

export const approvalPath = (id: string, part = ''): string => `${APPROVALS_PATH}/${id}${part && `/${part}`}`;

/** Leads to what waits now, where the page says that nothing is done yet. */
export const waitingFor = ({ id }: ApprovalEntity): ConsoleAnswer => ({
  goTo: approvalPath(id),
  notice: 'approval_requested',
});

import type { ApprovalEntity } from '../../approvals/approval.entity.js';
import type { ConsoleAnswer } from '../console-context.js';

export const APPROVALS_PATH = '/admin/console/approvals';

export const approvalPath = (id: string, part = ''): string => `${APPROVALS_PATH}/${id}${part && `/${part}`}`;

/** Redirects to the new approval, whose page says that nothing is done yet. */
export const waitingFor = ({ id }: ApprovalEntity): ConsoleAnswer => ({
  goTo: approvalPath(id),
  notice: 'approval_requested',
});

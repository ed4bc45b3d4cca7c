import { PageQuery } from '#platform/http/api/page-query.js';
import { IsOneOf, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';
import { APPROVAL_STATES, type ApprovalState } from '../../approvals/approval.entity.js';

/** Query of `GET /admin/approvals`. */
export class ApprovalsQuery extends PageQuery {
  @IsOptionalNotNull()
  @IsOneOf(...APPROVAL_STATES)
  state?: ApprovalState;
}

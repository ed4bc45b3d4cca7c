import { PageQuery } from '#platform/http/api/page-query.js';
import { IsOneOf, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';
import {
  APPROVAL_STATES,
  type ApprovalState,
  shownDetails,
  stateOf,
  type ApprovalEntity,
} from './approval.entity.js';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, oneOf, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { snakeCase } from '#platform/database/queries/input-rows.js';
import { viewOf } from '#platform/http/api/view-of.js';
import { APPROVAL_ACTIONS } from '#entrypoints/admin/actions/admin-actions.js';

/** Query of `GET /admin/approvals`. */
export class ApprovalsQuery extends PageQuery {
  @IsOptionalNotNull() @IsOneOf(...APPROVAL_STATES) state?: ApprovalState;
}

/** Who asked or decided, as in the audit log. */
@ApiSchema({ name: 'ApprovalParty' })
class ApprovalPartyView {
  @ApiProperty(oneOf('user', 'client')) type!: 'user' | 'client';
  @ApiProperty(text()) id!: string;
}

/** Something that waits for a second admin, or did, on the wire. */
@ApiSchema({ name: 'Approval' })
export class ApprovalView extends viewOf<ApprovalEntity>()({
  id: idOf('appr'),
  action: oneOf(...APPROVAL_ACTIONS),
  subject_id: text(
    'The id of the user or client; of a client that is to be created, the id that it will have.',
  ),
  state: [oneOf(...APPROVAL_STATES), stateOf],
  requested_by: [
    { type: ApprovalPartyView },
    ({ requestedByType, requestedById }) => ({ type: requestedByType, id: requestedById }),
  ],
  requested_at: time(),
  expires_at: time(),
  details: [
    {
      type: 'object',
      additionalProperties: true,
      description: 'What exactly was asked for, as far as the action does not say it.',
    },
    (approval) => snakeCased(shownDetails(approval)),
  ],
  seconded_by: [
    {
      type: ApprovalPartyView,
      nullable: true,
      description: 'The admin who is responsible for the request of a client.',
    },
    ({ secondedBy }) => (secondedBy === null ? null : { type: 'user', id: secondedBy }),
  ],
  decided_by: [
    { type: ApprovalPartyView, nullable: true },
    ({ decidedByType, decidedById }) =>
      decidedByType === null ? null : { type: decidedByType, id: decidedById },
  ],
  decided_at: orNull(time()),
}) {}

/** As the members are called elsewhere in the API. */
function snakeCased(details: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(details).map(([name, value]) => [snakeCase(name), value]));
}

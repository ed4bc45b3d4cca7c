import { HttpStatus } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import { ApiAnswer } from '../../../http/api/api-answers.js';
import { idOf, oneOf, orNull, text, time } from '../../../http/api/api-schemas.js';
import {
  APPROVAL_ACTIONS,
  APPROVAL_STATES,
  shownDetails,
  stateOf,
  type ApprovalAction,
  type ApprovalEntity,
  type ApprovalState,
} from '../../approvals/approval.entity.js';

/** Who asked or decided, as in the audit log. */
@ApiSchema({ name: 'ApprovalParty' })
class ApprovalPartyView {
  @ApiProperty(oneOf('user', 'client'))
  type!: 'user' | 'client';

  @ApiProperty(text())
  id!: string;
}

/** Something that waits for a second admin, or did, on the wire. */
@ApiSchema({ name: 'Approval' })
export class ApprovalView {
  @ApiProperty(idOf('appr'))
  id!: string;

  @ApiProperty(oneOf(...APPROVAL_ACTIONS))
  action!: ApprovalAction;

  @ApiProperty(
    text('The id of the user or client; of a client that is to be created, the id that it will have.'),
  )
  subject_id!: string;

  @ApiProperty(oneOf(...APPROVAL_STATES))
  state!: ApprovalState;

  @ApiProperty({ type: ApprovalPartyView })
  requested_by!: ApprovalPartyView;

  @ApiProperty(time())
  requested_at!: string;

  @ApiProperty(time())
  expires_at!: string;

  @ApiProperty({
    type: 'object',
    additionalProperties: true,
    description: 'What exactly was asked for, as far as the action does not say it.',
  })
  details!: Record<string, unknown>;

  @ApiProperty({
    type: ApprovalPartyView,
    nullable: true,
    description: 'The admin who stands behind what a client asked for.',
  })
  seconded_by!: ApprovalPartyView | null;

  @ApiProperty({ type: ApprovalPartyView, nullable: true })
  decided_by!: ApprovalPartyView | null;

  @ApiProperty(orNull(time()))
  decided_at!: string | null;
}

/** As the members are called elsewhere in the API. */
const snakeCased = (details: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(details).map(([name, value]) => [
      name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
      value,
    ]),
  );

export const approvalView = (approval: ApprovalEntity): ApprovalView => ({
  id: approval.id,
  action: approval.action,
  subject_id: approval.subjectId,
  state: stateOf(approval),
  requested_by: { type: approval.requestedByType, id: approval.requestedById },
  requested_at: approval.requestedAt.toISOString(),
  expires_at: approval.expiresAt.toISOString(),
  details: snakeCased(shownDetails(approval)),
  seconded_by: approval.secondedBy === null ? null : { type: 'user', id: approval.secondedBy },
  decided_by:
    approval.decidedByType === null ? null : { type: approval.decidedByType, id: approval.decidedById! },
  decided_at: approval.decidedAt?.toISOString() ?? null,
});

/** The answer of a route whose action waits for a second admin. */
export const ApiWaiting = (): MethodDecorator =>
  ApiAnswer(202, 'With `FOUR_EYES=true`: nothing is done until a second admin approves.', ApprovalView);

/** Answers 202 with the approval. */
export function waiting(reply: FastifyReply, approval: ApprovalEntity): ApprovalView {
  void reply.status(HttpStatus.ACCEPTED);
  return approvalView(approval);
}

import { Column, Entity, PrimaryColumn, VirtualColumn } from 'typeorm';
import { TextOrNull, TimeOfInsert, TimeOrNull } from '#platform/database/entities/columns.js';
import { PASSWORD_HASH, type ApprovalAction } from '#entrypoints/admin/actions/admin-actions.js';

export const APPROVAL_STATES = ['pending', 'approved', 'rejected', 'expired'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** The details of the request. */
export type ApprovalDetails = Record<string, unknown>;

/** A request of an admin that a second one approves or rejects (contract §17). */
@Entity('approvals')
export class ApprovalEntity {
  @PrimaryColumn('text') id!: string;
  @Column('text') action!: ApprovalAction;
  /** The user or client, which may have been deleted or not exist yet. */
  @Column('text') subjectId!: string;
  @Column('jsonb', { nullable: true }) details!: ApprovalDetails | null;
  /** The stored state: still `pending` when the time to decide is over. */
  @Column('text') state!: ApprovalState;

  /** Whether the time to decide is over, by the database's clock. */
  @VirtualColumn({
    type: 'boolean',
    query: (row) => `${row}.state = 'pending' AND ${row}.expires_at <= now()`,
  })
  isOverdue!: boolean;

  @Column('text') requestedByType!: 'user' | 'client';
  @Column('text') requestedById!: string;
  /** The user, or the owner of the client. */
  @Column('text') requestedByPerson!: string;
  @TimeOfInsert() requestedAt!: Date;
  @Column('timestamptz') expiresAt!: Date;
  /** The admin who takes responsibility for a client's request; null until there is one, and for a person's request. */
  @TextOrNull() secondedBy!: string | null;
  @TimeOrNull() secondedAt!: Date | null;
  @TextOrNull() decidedByType!: 'user' | 'client' | null;
  @TextOrNull() decidedById!: string | null;
  @TimeOrNull() decidedAt!: Date | null;
}

/** The state as shown, including `expired`. */
export const stateOf = ({ state, isOverdue }: ApprovalEntity): ApprovalState =>
  isOverdue ? 'expired' : state;

/** The person who is responsible for the request and cannot approve it; null for a client's request without one so far. */
export const personBehind = ({
  requestedByType,
  requestedByPerson,
  secondedBy,
}: ApprovalEntity): string | null => (requestedByType === 'user' ? requestedByPerson : secondedBy);

/** The details that may be shown. */
export const shownDetails = ({ details }: ApprovalEntity): ApprovalDetails => {
  const { [PASSWORD_HASH]: hash, ...rest } = details ?? {};
  return hash === undefined ? rest : { ...rest, password: 'a new one' };
};

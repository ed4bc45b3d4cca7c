import { Column, Entity, PrimaryColumn, VirtualColumn } from 'typeorm';

export const APPROVAL_ACTIONS = ['user.erase', 'user.make_admin', 'client.delete'] as const;
export type ApprovalAction = (typeof APPROVAL_ACTIONS)[number];
export const APPROVAL_STATES = ['pending', 'approved', 'rejected', 'expired'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** Something that an admin asked for and a second one approves or rejects (contract §17). */
@Entity('approvals')
export class ApprovalEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  action!: ApprovalAction;

  /** The user or client. It may be gone. */
  @Column('text', { name: 'subject_id' })
  subjectId!: string;

  /** What is stored: `pending` also when it is overdue. */
  @Column('text')
  state!: ApprovalState;

  /** Whether nobody decided in time, by the database's clock. */
  @VirtualColumn({
    type: 'boolean',
    query: (row) => `${row}.state = 'pending' AND ${row}.expires_at <= now()`,
  })
  isOverdue!: boolean;

  @Column('text', { name: 'requested_by_type' })
  requestedByType!: 'user' | 'client';

  @Column('text', { name: 'requested_by_id' })
  requestedById!: string;

  /** The user, or the owner of the client. */
  @Column('text', { name: 'requested_by_person' })
  requestedByPerson!: string;

  @Column({ type: 'timestamptz', name: 'requested_at', insert: false, update: false })
  requestedAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  @Column('text', { name: 'decided_by_type', nullable: true })
  decidedByType!: 'user' | 'client' | null;

  @Column('text', { name: 'decided_by_id', nullable: true })
  decidedById!: string | null;

  @Column('timestamptz', { name: 'decided_at', nullable: true })
  decidedAt!: Date | null;
}

/** The state as everybody sees it. */
export const stateOf = ({ state, isOverdue }: ApprovalEntity): ApprovalState =>
  isOverdue ? 'expired' : state;

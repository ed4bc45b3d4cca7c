import { Column, Entity, PrimaryColumn, VirtualColumn } from 'typeorm';
import { TextOrNull, TimeOfInsert, TimeOrNull } from '../../database/entities/columns.js';

export const APPROVAL_ACTIONS = [
  'user.erase',
  'user.make_admin',
  'user.update',
  'user.create_password_link',
  'user.reset_second_factor',
  'user.remove_identity',
  'client.create',
  'client.update',
  'client.rotate_secret',
  'client.delete',
] as const;
export type ApprovalAction = (typeof APPROVAL_ACTIONS)[number];
export const APPROVAL_STATES = ['pending', 'approved', 'rejected', 'expired'] as const;
export type ApprovalState = (typeof APPROVAL_STATES)[number];

/** What exactly was asked for. */
export type ApprovalDetails = Record<string, unknown>;

/** The hash of a password that was asked for: kept while it waits, and never shown. */
export const PASSWORD_HASH = 'password_hash';

/** Something that an admin asked for and a second one approves or rejects (contract §17). */
@Entity('approvals')
export class ApprovalEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  action!: ApprovalAction;

  /** The user or client. It may be gone, or not there yet. */
  @Column('text')
  subjectId!: string;

  @Column('jsonb', { nullable: true })
  details!: ApprovalDetails | null;

  /** What is stored: `pending` also when it is overdue. */
  @Column('text')
  state!: ApprovalState;

  /** Whether nobody decided in time, by the database's clock. */
  @VirtualColumn({
    type: 'boolean',
    query: (row) => `${row}.state = 'pending' AND ${row}.expires_at <= now()`,
  })
  isOverdue!: boolean;

  @Column('text')
  requestedByType!: 'user' | 'client';

  @Column('text')
  requestedById!: string;

  /** The user, or the owner of the client. */
  @Column('text')
  requestedByPerson!: string;

  @TimeOfInsert()
  requestedAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;

  /** The admin who stands behind what a client asked for; null until there is one, and for what a person asked for. */
  @TextOrNull()
  secondedBy!: string | null;

  @TimeOrNull()
  secondedAt!: Date | null;

  @TextOrNull()
  decidedByType!: 'user' | 'client' | null;

  @TextOrNull()
  decidedById!: string | null;

  @TimeOrNull()
  decidedAt!: Date | null;
}

/** The state as everybody sees it. */
export const stateOf = ({ state, isOverdue }: ApprovalEntity): ApprovalState =>
  isOverdue ? 'expired' : state;

/** The person behind the request, who cannot approve it; null for a client's request that nobody stands behind yet. */
export const personBehind = ({
  requestedByType,
  requestedByPerson,
  secondedBy,
}: ApprovalEntity): string | null => (requestedByType === 'user' ? requestedByPerson : secondedBy);

/** What may be shown of the details. */
export const shownDetails = ({ details }: ApprovalEntity): ApprovalDetails => {
  const { [PASSWORD_HASH]: hash, ...rest } = details ?? {};
  return hash === undefined ? rest : { ...rest, password: 'a new one' };
};

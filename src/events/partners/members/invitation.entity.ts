import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { OperatorRole } from '#platform/config/operator-role.js';
import type { MemberRole } from './member.js';
import { TextOrNull, TimeOfInsert } from '#platform/database/entities/columns.js';

/** An invitation into an organisation, or without one, to become an operator; it is deleted when it is used. */
@Entity('organisation_invitations')
export class InvitationEntity {
  @PrimaryColumn('text') id!: string;
  @TextOrNull() organisationId!: string | null;
  @Column('text') email!: string;
  @Column('text', { select: false }) emailKey!: string;
  @Column('text') role!: MemberRole | OperatorRole;
  /** The admin responsible for an invitation to become an operator. */
  @TextOrNull() invitedBy!: string | null;
  /** Of the key in the link that was mailed. */
  @Column('bytea', { select: false }) digest!: Buffer;
  @TimeOfInsert() createdAt!: Date;
  @Column('timestamptz') expiresAt!: Date;
}

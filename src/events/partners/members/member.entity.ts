import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { MemberRole } from './member.js';
import { TimeOfInsert } from '#platform/database/entities/columns.js';

/** A person who belongs to an organisation (contract §20); the owner's own account has no row. */
@Entity('organisation_members')
export class MemberEntity {
  @PrimaryColumn('text') organisationId!: string;
  @PrimaryColumn('text') userId!: string;
  @Column('text') role!: MemberRole;
  @TimeOfInsert() createdAt!: Date;
}

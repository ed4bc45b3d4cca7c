import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A session of a logged-in member in the portal of one client (contract §20). */
@Entity('portal_member_sessions')
export class MemberSessionEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text')
  clientId!: string;

  @Column('text')
  userId!: string;

  /** The organisation; null for its own account. */
  @Column('text', { nullable: true })
  memberOf!: string | null;

  /** The login that it was started with, and ends with. */
  @Column('text')
  loginId!: string;

  @Column({ type: 'timestamptz', insert: false, update: false })
  createdAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A session of a logged-in member in the portal of one client (contract §20). */
@Entity('portal_member_sessions')
export class MemberSessionEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text', { name: 'client_id' })
  clientId!: string;

  @Column('text', { name: 'user_id' })
  userId!: string;

  /** The organisation; null for its own account. */
  @Column('text', { name: 'member_of', nullable: true })
  memberOf!: string | null;

  /** The login that it was started with, and ends with. */
  @Column('text', { name: 'login_id' })
  loginId!: string;

  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;
}

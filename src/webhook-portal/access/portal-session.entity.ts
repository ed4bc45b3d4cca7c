import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A browser session in the portal of one client. */
@Entity('portal_sessions')
export class PortalSessionEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text')
  clientId!: string;

  /** The grant of the owner's token behind it; null for a client-credentials token. */
  @Column('text', { nullable: true })
  grantId!: string | null;

  @Column({ type: 'timestamptz', insert: false, update: false })
  createdAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;
}

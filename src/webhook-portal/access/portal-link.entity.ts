import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A one-time link to the webhook portal; only the digest of its key is stored. */
@Entity('portal_links')
export class PortalLinkEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text')
  clientId!: string;

  /** The grant of the owner's token that created it; null for a client-credentials token. */
  @Column('text', { nullable: true })
  grantId!: string | null;

  @Column({ type: 'timestamptz', insert: false, update: false })
  createdAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;

  @Column('timestamptz', { nullable: true })
  redeemedAt!: Date | null;
}

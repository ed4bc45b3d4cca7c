import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A one-time link to the webhook portal; only the digest of its key is stored. */
@Entity('portal_links')
export class PortalLinkEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text', { name: 'client_id' })
  clientId!: string;

  /** The grant of the owner's token that created it; null for a client-credentials token. */
  @Column('text', { name: 'grant_id', nullable: true })
  grantId!: string | null;

  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  @Column('timestamptz', { name: 'redeemed_at', nullable: true })
  redeemedAt!: Date | null;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A one-time link to the webhook portal; its key is kept as a digest alone. */
@Entity('portal_links')
export class PortalLinkEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text', { name: 'client_id' })
  clientId!: string;

  /** The grant of the owner's token behind it; null where a client-credentials token was. */
  @Column('text', { name: 'grant_id', nullable: true })
  grantId!: string | null;

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  @Column('timestamptz', { name: 'redeemed_at', nullable: true })
  redeemedAt!: Date | null;
}

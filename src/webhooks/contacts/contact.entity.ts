import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An address that a client wants to be told about its endpoints (contract §18). */
@Entity('client_contacts')
export class ContactEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text', { name: 'client_id' })
  clientId!: string;

  @Column('text')
  email!: string;

  @Column('text', { name: 'email_key', select: false })
  emailKey!: string;

  /** Null until its owner confirmed it; nothing but the link is sent to it before. */
  @Column('timestamptz', { name: 'verified_at', nullable: true })
  verifiedAt!: Date | null;

  /** The link that was mailed last. */
  @Column('bytea', { name: 'link_digest', nullable: true, select: false })
  linkDigest!: Buffer | null;

  @Column('timestamptz', { name: 'link_expires_at', nullable: true, select: false })
  linkExpiresAt!: Date | null;
}

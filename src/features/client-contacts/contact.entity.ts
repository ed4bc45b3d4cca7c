import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOrNull } from '#platform/database/entities/columns.js';

/** An address that a client wants to be told about its endpoints (contract §18). */
@Entity('client_contacts')
export class ContactEntity {
  @PrimaryColumn('text')
  id!: string;

  @Column('text')
  clientId!: string;

  @Column('text')
  email!: string;

  @Column('text', { select: false })
  emailKey!: string;

  /** Null until its owner confirmed it; nothing but the link is sent to it before. */
  @TimeOrNull()
  verifiedAt!: Date | null;

  /** The link that was mailed last. */
  @Column('bytea', { nullable: true, select: false })
  linkDigest!: Buffer | null;

  @Column('timestamptz', { nullable: true, select: false })
  linkExpiresAt!: Date | null;
}

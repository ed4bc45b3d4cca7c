import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull, TimeOrNull } from '#platform/database/entities/columns.js';

/** A one-time link that was mailed to an address: to verify it, or to create an account with it (contract §18). */
@Entity('email_links')
export class EmailLinkEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text')
  purpose!: 'verify' | 'sign_up';

  /** Null for a person who has no account yet. */
  @TextOrNull()
  userId!: string | null;

  @Column('text')
  email!: string;

  @Column('text')
  emailKey!: string;

  /** Where the person was going before the mail, sealed (sealed-returns.service.ts). */
  @Column('bytea', { nullable: true })
  returnTo!: Buffer | null;

  @Column('timestamptz')
  expiresAt!: Date;

  @TimeOrNull()
  usedAt!: Date | null;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A one-time link that was mailed to an address: to verify it, or to create an account with it (contract §18). */
@Entity('email_links')
export class EmailLinkEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text')
  purpose!: 'verify' | 'sign_up';

  /** Null for a person who has no account yet. */
  @Column('text', { name: 'user_id', nullable: true })
  userId!: string | null;

  @Column('text')
  email!: string;

  @Column('text', { name: 'email_key' })
  emailKey!: string;

  /** Where the person was going before the mail, sealed (sealed-returns.service.ts). */
  @Column('bytea', { name: 'return_to', nullable: true })
  returnTo!: Buffer | null;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  @Column('timestamptz', { name: 'used_at', nullable: true })
  usedAt!: Date | null;
}

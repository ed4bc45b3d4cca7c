import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A sign-in between the password and the second factor; only the digest of the cookie's value is stored. */
@Entity('pending_sign_ins')
export class PendingSignInEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text')
  userId!: string;

  /** A digest of the password's hash and the email address of the account as they were. */
  @Column('bytea')
  accountMark!: Buffer;

  @Column('timestamptz')
  expiresAt!: Date;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The authenticator app of a user (RFC 6238). */
@Entity('authenticator_apps')
export class AuthenticatorAppEntity {
  @PrimaryColumn('text')
  userId!: string;

  /** The secret in base32, sealed for this user. */
  @Column('bytea')
  sealedSecret!: Buffer;

  /** The time step of the last code that was used. Codes of this step or earlier ones are refused. */
  @Column('bigint', { transformer: { from: Number, to: (step: unknown) => step } })
  lastStep!: number;

  @Column({ type: 'timestamptz' })
  confirmedAt!: Date;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';

/** The authenticator app of a user (RFC 6238). */
@Entity('authenticator_apps')
export class AuthenticatorAppEntity {
  @PrimaryColumn('text', { name: 'user_id' })
  userId!: string;

  /** The secret in base32, sealed for this user. */
  @Column('bytea', { name: 'sealed_secret' })
  sealedSecret!: Buffer;

  /** The time step of the last code that was used. Codes of this step or earlier ones are refused. */
  @Column('bigint', { name: 'last_step', transformer: { from: Number, to: (step: unknown) => step } })
  lastStep!: number;

  @Column({ type: 'timestamptz', name: 'confirmed_at' })
  confirmedAt!: Date;
}

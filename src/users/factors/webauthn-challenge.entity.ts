import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A challenge that one browser may answer once; only the digest of the cookie that it is derived from is stored. */
@Entity('webauthn_challenges')
export class WebauthnChallengeEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  /** Who adds a passkey; null for a sign-in. */
  @Column('text', { nullable: true })
  userId!: string | null;

  @Column('timestamptz')
  expiresAt!: Date;
}

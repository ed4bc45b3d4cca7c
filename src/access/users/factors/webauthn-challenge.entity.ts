import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** A challenge that one browser may answer once; only the digest of the cookie that it is derived from is stored. */
@Entity('webauthn_challenges')
export class WebauthnChallengeEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  /** Who adds a passkey; null for a sign-in. */
  @TextOrNull()
  userId!: string | null;

  @Column('timestamptz')
  expiresAt!: Date;
}

import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TextOrNull } from '#platform/database/entities/columns.js';

/** A started sign-in that has not come back from the provider yet. */
@Entity('provider_sign_ins')
export class ProviderSignInEntity {
  @PrimaryColumn('bytea')
  stateDigest!: Buffer;

  @Column('bytea')
  browserDigest!: Buffer;

  /** The provider's id in the settings. */
  @Column('text')
  provider!: string;

  /** The nonce and the PKCE verifier, sealed. */
  @Column('bytea')
  sealed!: Buffer;

  @TextOrNull()
  returnTo!: string | null;

  /** The logged-in user who has to authenticate again; null for a login. */
  @TextOrNull()
  userId!: string | null;

  @Column('timestamptz')
  expiresAt!: Date;
}

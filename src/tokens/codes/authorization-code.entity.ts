import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A one-time authorization code; only its digest is stored. A consumed one is kept as long as its grant. */
@Entity('authorization_codes')
export class AuthorizationCodeEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text', { name: 'client_id' })
  clientId!: string;

  @Column('text', { name: 'user_id' })
  userId!: string;

  @Column('text', { name: 'redirect_uri' })
  redirectUri!: string;

  @Column('text', { array: true })
  scopes!: string[];

  @Column('text', { name: 'code_challenge', nullable: true })
  codeChallenge!: string | null;

  @Column({ type: 'timestamptz', name: 'created_at', insert: false, update: false })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  @Column('timestamptz', { name: 'consumed_at', nullable: true })
  consumedAt!: Date | null;

  /** The grant created from the code, once it was consumed. */
  @Column('text', { name: 'grant_id', nullable: true })
  grantId!: string | null;
}

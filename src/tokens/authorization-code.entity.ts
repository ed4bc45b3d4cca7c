import { Column, Entity, PrimaryColumn } from 'typeorm';

/** An authorization code: consumed once, and kept afterwards with its grant, so that a replay is noticed. */
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

  @Column('timestamptz', { name: 'created_at' })
  createdAt!: Date;

  @Column('timestamptz', { name: 'expires_at' })
  expiresAt!: Date;

  @Column('timestamptz', { name: 'consumed_at', nullable: true })
  consumedAt!: Date | null;

  @Column('text', { name: 'grant_id', nullable: true })
  grantId!: string | null;
}

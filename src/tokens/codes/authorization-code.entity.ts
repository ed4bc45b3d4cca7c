import { Column, Entity, PrimaryColumn } from 'typeorm';

/** A one-time authorization code; only its digest is stored. A consumed one is kept as long as its grant. */
@Entity('authorization_codes')
export class AuthorizationCodeEntity {
  @PrimaryColumn('bytea')
  digest!: Buffer;

  @Column('text')
  clientId!: string;

  @Column('text')
  userId!: string;

  @Column('text')
  redirectUri!: string;

  @Column('text', { array: true })
  scopes!: string[];

  @Column('text', { nullable: true })
  codeChallenge!: string | null;

  @Column({ type: 'timestamptz', insert: false, update: false })
  createdAt!: Date;

  @Column('timestamptz')
  expiresAt!: Date;

  @Column('timestamptz', { nullable: true })
  consumedAt!: Date | null;

  /** The grant created from the code, once it was consumed. */
  @Column('text', { nullable: true })
  grantId!: string | null;
}

import { Column, Entity } from 'typeorm';
import { IssuedSecret } from '../../database/entities/issued-secret.js';

/** A one-time authorization code; only its digest is stored. A consumed one is kept as long as its grant. */
@Entity('authorization_codes')
export class AuthorizationCodeEntity extends IssuedSecret {
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

  @Column('timestamptz', { nullable: true })
  consumedAt!: Date | null;

  /** The grant created from the code, once it was consumed. */
  @Column('text', { nullable: true })
  grantId!: string | null;
}

import { Column, Entity } from 'typeorm';
import { IssuedSecret } from '#platform/database/entities/issued-secret.js';
import { TextOrNull, TimeOrNull } from '#platform/database/entities/columns.js';

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

  @TextOrNull()
  codeChallenge!: string | null;

  @TimeOrNull()
  consumedAt!: Date | null;

  /** The grant created from the code, once it was consumed. */
  @TextOrNull()
  grantId!: string | null;
}

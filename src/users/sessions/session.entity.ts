import { Column, Entity } from 'typeorm';
import { IssuedSecret } from '../../database/entities/issued-secret.js';
import type { SignInMethod } from './sign-in-method.js';

/** A logged-in browser; only the digest of the cookie's value is stored. */
@Entity('sessions')
export class SessionEntity extends IssuedSecret {
  /** Identifies it on the user's own page; gives no access. */
  @Column('text')
  id!: string;

  /** The first of the sessions that this one continues after authenticating again; null: itself. */
  @Column('text', { nullable: true })
  loginId!: string | null;

  @Column('text')
  userId!: string;

  /** How far use can put off the end of an operator's session; null: not at all. */
  @Column('timestamptz', { nullable: true })
  endsAt!: Date | null;

  @Column('timestamptz')
  lastSeenAt!: Date;

  @Column('text', { nullable: true })
  address!: string | null;

  @Column('text', { nullable: true })
  userAgent!: string | null;

  @Column('text')
  method!: SignInMethod['method'];

  /** Whether a second factor or a passkey was given. */
  @Column('boolean')
  secondFactor!: boolean;

  /** The provider's id in the settings, and its names for the person and the session; null for other methods. */
  @Column('text', { nullable: true })
  provider!: string | null;

  @Column('text', { nullable: true })
  providerSubject!: string | null;

  @Column('text', { nullable: true })
  providerSid!: string | null;

  /** The provider's ID token, sealed; null for other methods, and if it is too long to be sent back. */
  @Column('bytea', { nullable: true })
  sealedIdToken!: Buffer | null;

  /** When the person last authenticated at the provider, if it said so; null for other methods. */
  @Column('timestamptz', { nullable: true })
  authenticatedAt!: Date | null;
}

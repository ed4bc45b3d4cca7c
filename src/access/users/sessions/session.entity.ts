import { Column, Entity } from 'typeorm';
import { TextOrNull, TimeOrNull, IssuedSecret } from '#platform/database/entities/columns.js';

/** How a session was started; for a provider, with the ids of the person and the session there. */
export type SignInMethod =
  | { method: 'password'; gaveSecondFactor?: boolean }
  | { method: 'passkey' }
  | {
      method: 'provider';
      provider: string;
      subject: string;
      sid?: string;
      /** When the person last authenticated there, if the provider says so; where it need not, when they came back from it. */
      authenticatedAt?: Date;
      /** The ID token, sealed, for logging out there. */
      sealedIdToken?: Buffer;
      /** Whether a second factor was also given here, although such a session is not asked for one. */
      gaveSecondFactor?: boolean;
    };

/** A logged-in browser; only the digest of the cookie's value is stored. */
@Entity('sessions')
export class SessionEntity extends IssuedSecret {
  /** Identifies it on the user's own page; gives no access. */
  @Column('text') id!: string;
  /** The first of the sessions that this one continues after authenticating again; null: itself. */
  @TextOrNull() loginId!: string | null;
  @Column('text') userId!: string;
  /** The latest end of an operator's session, however much it is used; null for other sessions, which use does not extend. */
  @TimeOrNull() endsAt!: Date | null;
  @Column('timestamptz') lastSeenAt!: Date;
  @TextOrNull() address!: string | null;
  @TextOrNull() userAgent!: string | null;
  @Column('text') method!: SignInMethod['method'];
  /** Whether a second factor or a passkey was given. */
  @Column('boolean') secondFactor!: boolean;
  /** The provider's id in the settings, and its names for the person and the session; null for other methods. */
  @TextOrNull() provider!: string | null;
  @TextOrNull() providerSubject!: string | null;
  @TextOrNull() providerSid!: string | null;
  /** The provider's ID token, sealed; null for other methods, and if it is too long to be sent back. */
  @Column('bytea', { nullable: true }) sealedIdToken!: Buffer | null;
  /** When the person last authenticated at the provider, if it said so; null for other methods. */
  @TimeOrNull() authenticatedAt!: Date | null;
}

/** A browser session, as its user sees it. */
export type SessionView = Pick<SessionEntity, 'id' | 'createdAt' | 'lastSeenAt' | 'address' | 'userAgent'>;

/** How a session was started; through a provider, with what identifies the person and the session there. */
export type SignInMethod =
  | { method: 'password'; gaveSecondFactor?: boolean }
  | { method: 'passkey' }
  | {
      method: 'provider';
      provider: string;
      subject: string;
      sid?: string;
      /** When the person last authenticated there, if the provider says so. */
      authenticatedAt?: Date;
      /** The ID token, sealed, for logging out there. */
      sealedIdToken?: Buffer;
      /** Whether a factor was also given here, which such a session is not asked for. */
      gaveSecondFactor?: boolean;
    };

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

import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';

// It is sent back in a URL, and servers accept URLs of about 8 kB.
const MAX_LENGTH = 6_000;

/** Whom the ID token belongs to; it can only be decrypted for them. */
interface Owner {
  provider: string;
  subject: string;
}

/** The ID tokens that sessions keep for logging out at the provider. */
@Injectable()
export class SealedIdTokens {
  private readonly box: SealedBox;

  constructor(settings: Settings) {
    this.box = new SealedBox('provider id token', settings.encryptionKeys);
  }

  /** Undefined if it is too long to be sent back. */
  seal({ provider, subject }: Owner, idToken: string): Buffer | undefined {
    return idToken.length > MAX_LENGTH ? undefined : this.box.seal(idToken, `${provider} ${subject}`);
  }

  /** Undefined if no key opens it. */
  open({ provider, subject }: Owner, sealed: Buffer): string | undefined {
    return this.box.open(sealed, `${provider} ${subject}`);
  }
}

import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { safeReturnTo } from '#platform/http/forms/return-to.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';

/** Where people go on after a mailed link, as stored with the link: sealed, and bound to it. */
@Injectable()
export class SealedReturns {
  private readonly box: SealedBox;

  constructor(settings: Settings) {
    this.box = new SealedBox('return through mail', settings.encryptionKeys);
  }

  seal(linkDigest: Buffer, returnTo: string | undefined): Buffer | null {
    return returnTo === undefined ? null : this.box.seal(returnTo, linkDigest.toString('base64url'));
  }

  /** Undefined without one, or if it was not sealed for this link. */
  open(linkDigest: Buffer, sealed: Buffer | null): string | undefined {
    return sealed ? safeReturnTo(this.box.open(sealed, linkDigest.toString('base64url'))) : undefined;
  }
}

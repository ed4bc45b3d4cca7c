import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { makeEndpointSecret } from '../signing/endpoint-secret.js';
import { openEndpointSecret, sealEndpointSecret } from '../signing/sealed-secret.js';

/** The signing secrets of endpoints, which are stored sealed (contract §1). */
@Injectable()
export class EndpointSecrets {
  constructor(private readonly settings: Settings) {}

  /** A new secret, in clear text and sealed. */
  make(endpointId: string): { secret: string; sealed: Buffer } {
    const secret = makeEndpointSecret();
    return { secret, sealed: sealEndpointSecret(this.settings.encryptionKey, endpointId, secret) };
  }

  /** The secret in clear text; undefined if no configured key can decrypt it. */
  open(endpointId: string, sealed: Buffer): string | undefined {
    return openEndpointSecret(this.settings.encryptionKeys, endpointId, sealed);
  }

  /** The same secret sealed under the current key; undefined if no configured key can decrypt it. */
  resealed(endpointId: string, sealed: Buffer): Buffer | undefined {
    const secret = this.open(endpointId, sealed);
    return secret === undefined
      ? undefined
      : sealEndpointSecret(this.settings.encryptionKey, endpointId, secret);
  }

  /** The sealed secrets that can be decrypted, in their order. */
  openAll(endpointId: string, sealed: (Buffer | null)[]): string[] {
    return sealed.flatMap((one) => (one && this.open(endpointId, one)) ?? []);
  }
}

import { Injectable } from '@nestjs/common';
import { Settings } from '../../config/settings.js';
import { makeEndpointSecret } from '../signing/endpoint-secret.js';
import { openEndpointSecret, sealEndpointSecret } from '../signing/sealed-secret.js';

/** The signing secrets of endpoints, which are sealed at rest (contract §1). */
@Injectable()
export class EndpointSecrets {
  constructor(private readonly settings: Settings) {}

  /** A new secret, in clear and as it is kept. */
  make(endpointId: string): { secret: string; sealed: Buffer } {
    const secret = makeEndpointSecret();
    return { secret, sealed: sealEndpointSecret(this.settings.encryptionKey, endpointId, secret) };
  }

  /** The secret in clear; undefined where no key of the settings opens it. */
  open(endpointId: string, sealed: Buffer): string | undefined {
    return openEndpointSecret(this.settings.encryptionKeys, endpointId, sealed);
  }

  /** The same secret under the present key; undefined where no key of the settings opens it. */
  resealed(endpointId: string, sealed: Buffer): Buffer | undefined {
    const secret = this.open(endpointId, sealed);
    return secret === undefined
      ? undefined
      : sealEndpointSecret(this.settings.encryptionKey, endpointId, secret);
  }

  /** Those of the sealed secrets that open, in their order. */
  openAll(endpointId: string, sealed: (Buffer | null)[]): string[] {
    return sealed.flatMap((one) => (one && this.open(endpointId, one)) ?? []);
  }
}

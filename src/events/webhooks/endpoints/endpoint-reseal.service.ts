import { Injectable } from '@nestjs/common';
import {
  ReceiverCredentials,
  type StoredCredentials,
} from '../receiver-tokens/receiver-credentials.service.js';
import { EndpointSecrets } from './endpoint-secrets.service.js';
import { EndpointsRepository } from './endpoints.repository.js';

const BATCH = 500;

/** After a change of `ENCRYPTION_KEY`: reseals the signing secrets, the values of headers and the secrets for tokens, so that the previous key can be removed. */
@Injectable()
export class EndpointResealService {
  constructor(
    private readonly repository: EndpointsRepository,
    private readonly secrets: EndpointSecrets,
    private readonly credentials: ReceiverCredentials,
  ) {}

  /**
   * Seals every signing secret, the values of headers and the secrets for tokens under the current key, in small batches while the service runs. Returns
   * how many endpoints were resealed, and the ids of those with something that no key can decrypt.
   */
  async reseal(): Promise<{ resealed: number; unreadable: string[] }> {
    let resealed = 0;
    const unreadable: string[] = [];
    for (let after = ''; ;) {
      const batch = await this.repository.sealedSecretsAfter(after, BATCH);
      for (const { id, sealedSecret, sealedPreviousSecret, sealedHeaders, ...stored } of batch) {
        const fresh = this.secrets.resealed(id, sealedSecret);
        const previous = this.freshPrevious(id, sealedPreviousSecret);
        const areHeadersRead = await this.resealHeaders(id, sealedHeaders);
        const isClientRead = await this.resealClientSecret(id, stored);
        if (fresh === undefined || !areHeadersRead || !isClientRead) unreadable.push(id);
        if (fresh && (await this.repository.replaceSealed(id, sealedSecret, fresh, previous))) resealed++;
      }
      if (batch.length < BATCH) return { resealed, unreadable };
      after = batch.at(-1)!.id;
    }
  }

  /** False if no key can decrypt them. Headers that were changed during the run are already sealed under the current key. */
  private async resealHeaders(id: string, sealed: Buffer | null): Promise<boolean> {
    if (sealed === null) return true;
    const headers = this.secrets.openHeaders(id, sealed);
    if (headers)
      await this.repository.replaceSealedHeaders(id, sealed, this.secrets.sealHeaders(id, headers));
    return headers !== undefined;
  }

  /** The same for the secret that gets tokens. */
  private async resealClientSecret(id: string, stored: StoredCredentials): Promise<boolean> {
    const { authentication, sealedClientSecret } = stored;
    const secret = this.credentials.open(id, stored);
    if (authentication && sealedClientSecret && secret) {
      const fresh = this.credentials.seal(id, authentication.token_url, secret);
      await this.repository.replaceSealedClientSecret(id, sealedClientSecret, fresh);
    }
    return secret !== undefined;
  }

  private freshPrevious(id: string, previous: Buffer | null): Buffer | null {
    return previous && (this.secrets.resealed(id, previous) ?? null);
  }
}

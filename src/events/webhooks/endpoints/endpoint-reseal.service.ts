import { Injectable } from '@nestjs/common';
import { EndpointSecrets } from './endpoint-secrets.service.js';
import { EndpointsRepository } from './endpoints.repository.js';

const BATCH = 500;

/** After a change of `ENCRYPTION_KEY`: reseals the signing secrets and the values of headers, so that the previous key can be removed. */
@Injectable()
export class EndpointResealService {
  constructor(
    private readonly repository: EndpointsRepository,
    private readonly secrets: EndpointSecrets,
  ) {}

  /**
   * Seals every signing secret, and the values of headers, under the current key, in small batches while the service runs. Returns
   * how many endpoints were resealed, and the ids of those with something that no key can decrypt.
   */
  async reseal(): Promise<{ resealed: number; unreadable: string[] }> {
    let resealed = 0;
    const unreadable: string[] = [];
    for (let after = ''; ;) {
      const batch = await this.repository.sealedSecretsAfter(after, BATCH);
      for (const { id, sealedSecret, sealedPreviousSecret, sealedHeaders } of batch) {
        const fresh = this.secrets.resealed(id, sealedSecret);
        const previous = this.freshPrevious(id, sealedPreviousSecret);
        const areHeadersRead = await this.resealHeaders(id, sealedHeaders);
        if (fresh === undefined || !areHeadersRead) unreadable.push(id);
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

  private freshPrevious(id: string, previous: Buffer | null): Buffer | null {
    return previous && (this.secrets.resealed(id, previous) ?? null);
  }
}

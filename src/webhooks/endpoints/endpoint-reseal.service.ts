import { Injectable } from '@nestjs/common';
import { EndpointSecrets } from './endpoint-secrets.service.js';
import { EndpointsRepository } from './endpoints.repository.js';

const BATCH = 500;

/** After a change of `ENCRYPTION_KEY`: reseals the signing secrets, so that the previous key can be removed. */
@Injectable()
export class EndpointResealService {
  constructor(
    private readonly repository: EndpointsRepository,
    private readonly secrets: EndpointSecrets,
  ) {}

  /**
   * Seals every signing secret under the current key, in small batches while the service runs. Returns how many were resealed,
   * and the ids of endpoints whose secret no key can decrypt.
   */
  async reseal(): Promise<{ resealed: number; unreadable: string[] }> {
    let resealed = 0;
    const unreadable: string[] = [];
    for (let after = ''; ;) {
      const batch = await this.repository.sealedSecretsAfter(after, BATCH);
      for (const { id, sealedSecret, sealedPreviousSecret } of batch) {
        const fresh = this.secrets.resealed(id, sealedSecret);
        const previous = this.freshPrevious(id, sealedPreviousSecret);
        if (fresh === undefined) unreadable.push(id);
        else if (await this.repository.replaceSealed(id, sealedSecret, fresh, previous)) resealed++;
      }
      if (batch.length < BATCH) return { resealed, unreadable };
      after = batch.at(-1)!.id;
    }
  }

  private freshPrevious(id: string, previous: Buffer | null): Buffer | null {
    return previous && (this.secrets.resealed(id, previous) ?? null);
  }
}

import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { HOUR_MS } from '#platform/config/durations.js';
import { WriteBehind } from '#platform/database/background/write-behind.js';
import { SecretUsesRepository, type SecretUse } from './secret-uses.repository.js';

/**
 * Records which secrets and keys are used, to the hour (contract §20): collected in this process and written in batches outside of
 * requests. Each instance writes a secret once an hour. If an instance is killed, what it has not written is lost until the next
 * use.
 */
@Injectable()
export class SecretUsesService extends WriteBehind {
  /** The hour in which each digest in memory was last noted. */
  private readonly noted = new WeakMap<Buffer, number>();
  private waiting = new Map<string, SecretUse>();

  constructor(
    private readonly repository: SecretUsesRepository,
    server: HttpAdapterHost,
  ) {
    super(server);
  }

  /**
   * Costs no query. Pass the `digest` object that is cached with its client, if there is one; other objects are recorded each
   * time.
   */
  note(clientId: string, digest: Buffer, isKey = false): void {
    const hour = Math.floor(Date.now() / HOUR_MS);
    if (this.noted.get(digest) === hour) return;
    this.noted.set(digest, hour);
    this.add({ clientId, digest, isKey });
  }

  /** When each key of the client was last used, by its thumbprint in base64url. */
  async ofKeys(clientId: string): Promise<ReadonlyMap<string, Date>> {
    const uses = await this.repository.keyUsesOf(clientId);
    return new Map(uses.map(({ digest, lastUsedAt }) => [digest.toString('base64url'), lastUsedAt]));
  }

  private add(use: SecretUse): void {
    this.waiting.set(`${use.clientId} ${use.digest.toString('base64url')}`, use);
  }

  protected async write(): Promise<void> {
    if (this.waiting.size === 0) return;
    const used = [...this.waiting.values()];
    this.waiting = new Map();
    try {
      const [keys, secrets] = [true, false].map((isKey) => used.filter((use) => use.isKey === isKey));
      if (secrets!.length > 0) await this.repository.note(secrets!);
      if (keys!.length > 0) await this.repository.noteKeys(keys!);
    } catch (error) {
      this.logger.warn(`Uses of secrets could not be written: ${(error as Error).message}`);
      // The database is unavailable, so they are written next time.
      for (const use of used) this.add(use);
    }
  }
}

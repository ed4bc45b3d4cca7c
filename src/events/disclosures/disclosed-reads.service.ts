import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { WriteBehind } from '#platform/database/background/write-behind.js';
import { newUlid } from '#platform/secrets/ids.js';
import { batchDigestOf } from './batch-digest.js';
import type { Disclosure, DisclosureBatch } from './disclosure.js';
import { DisclosuresRepository } from './disclosures.repository.js';

// The most distinct keys between two writes, or while the database is unavailable; more are not counted.
const DISTINCT_MAX = 20_000;
const BATCH = 1_000;

/** What is counted: whose data, by whom, of which kind. */
type Read = Pick<Disclosure, 'clientId' | 'userId' | 'scope'>;

/**
 * Counts what this service itself serves of users' data (contract §26): collected in this process and written in batches every
 * few seconds. A batch whose write may have failed is written again under the same id, so it counts once. What is not yet written
 * is lost if an instance is killed.
 */
@Injectable()
export class DisclosedReadsService extends WriteBehind {
  private noted = new Map<string, Disclosure>();
  private readonly unwritten: DisclosureBatch[] = [];
  private missed = 0;

  constructor(
    private readonly repository: DisclosuresRepository,
    server: HttpAdapterHost,
  ) {
    super(server);
  }

  /** Counts that a client was served data of a user. Costs no query. */
  note({ clientId, userId, scope }: Read): void {
    const key = `${clientId} ${userId} ${scope}`;
    const known = this.noted.get(key);
    if (known) known.requests++;
    else if (this.noted.size < DISTINCT_MAX)
      this.noted.set(key, { clientId, userId, scope, requests: 1, day: null });
    else this.missed++;
  }

  protected async write(): Promise<void> {
    if (this.missed > 0) {
      this.logger.warn(`${this.missed} requests for data of users are in no sum: too many at once`);
      this.missed = 0;
    }
    try {
      // New counts become batches only once the earlier batches are written.
      await this.writeBatches();
      this.takeNoted();
      await this.writeBatches();
    } catch (error) {
      // The database is unavailable, so they are written next time.
      this.logger.warn(`What was read could not be written: ${(error as Error).message}`);
    }
  }

  private async writeBatches(): Promise<void> {
    for (let batch = this.unwritten[0]; batch; batch = this.unwritten[0]) {
      const counting = batch;
      await this.repository.count(counting);
      this.unwritten.shift();
    }
  }

  private takeNoted(): void {
    const noted = [...this.noted.values()];
    this.noted = new Map();
    for (let from = 0; from < noted.length; from += BATCH) {
      const disclosures = noted.slice(from, from + BATCH);
      this.unwritten.push({
        reporterId: '',
        batchId: newUlid(),
        bodyDigest: batchDigestOf(disclosures),
        realm: null,
        disclosures,
      });
    }
  }
}

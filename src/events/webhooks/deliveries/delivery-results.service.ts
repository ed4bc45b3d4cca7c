import { Injectable, Logger } from '@nestjs/common';
import { setTimeout as after } from 'node:timers/promises';
import { detached } from '#platform/telemetry/log-scope.js';
import { EndpointsService } from '../endpoints/endpoints.service.js';
import type { AttemptResult } from './delivery-attempt.service.js';
import { DeliveryQueueRepository, LEASE_SECONDS, type EndpointAtUrl } from './delivery-queue.repository.js';

/** Results that are written together, or all of one request. */
const AT_ONCE = 500;
const TRY_AGAIN_MS = 250;

/** The results of a request. */
interface Waiting {
  results: AttemptResult[];
  endpointId: string;
  /** By the monotonic clock. */
  since: number;
  done: () => void;
}

/**
 * Writes the results of attempts. Results that arrive during a write are written together afterwards, so that many share a
 * commit.
 */
@Injectable()
export class DeliveryResultsService {
  private readonly logger = new Logger(DeliveryResultsService.name);
  private waiting: Waiting[] = [];
  private isWriting = false;

  constructor(
    private readonly queue: DeliveryQueueRepository,
    private readonly endpoints: EndpointsService,
  ) {}

  /** Resolves when the results of a request are written, or when their lease has expired and another instance has taken them over. */
  write(results: AttemptResult[], endpointId: string): Promise<void> {
    return new Promise((done) => {
      this.waiting.push({ results, endpointId, since: performance.now(), done });
      if (!this.isWriting) void detached(() => this.writeWaiting());
    });
  }

  private async writeWaiting(): Promise<void> {
    this.isWriting = true;
    while (this.waiting.length > 0) {
      const batch = this.next();
      try {
        await this.writeBatch(batch);
        for (const { done } of batch) done();
      } catch (error) {
        this.logger.warn(`Results of deliveries could not be written: ${(error as Error).message}`);
        await after(TRY_AGAIN_MS);
        this.keepThoseWithLease(batch);
      }
    }
    this.isWriting = false;
  }

  private next(): Waiting[] {
    let count = 0;
    const rest = this.waiting.findIndex(({ results }) => (count += results.length) > AT_ONCE);
    return this.waiting.splice(0, rest === -1 ? this.waiting.length : Math.max(rest, 1));
  }

  private async writeBatch(batch: Waiting[]): Promise<void> {
    const { disable, failing } = await this.queue.finish(
      batch.flatMap(({ results }) => results.map((result) => result.finished)),
    );
    for (const { id, url } of goneIn(batch)) await this.endpoints.disable(id, url, 'gone');
    for (const { id, url } of disable) await this.endpoints.disable(id, url, 'failing');
    for (const id of failing) await this.endpoints.tellFailing(id);
  }

  private keepThoseWithLease(batch: Waiting[]): void {
    const leaseBegan = performance.now() - LEASE_SECONDS * 1000;
    for (const one of batch) {
      if (one.since > leaseBegan) this.waiting.push(one);
      else one.done();
    }
  }
}

/** The endpoints that answered 410, each once with the URL that did. */
function goneIn(batch: Waiting[]): EndpointAtUrl[] {
  const gone = new Map<string, EndpointAtUrl>();
  for (const { results, endpointId: id } of batch) {
    const url = results[0]!.finished.attempt?.url;
    if (results[0]!.isGone && url !== undefined) gone.set(`${id} ${url}`, { id, url });
  }
  return [...gone.values()];
}

import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { LRUCache } from 'lru-cache';
import { randomUUID } from 'node:crypto';
import { Settings } from '#platform/config/settings.js';
import { QueueWorker } from '#platform/database/background/queue-worker.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import type { Line } from '#platform/http/server/logging.js';
import { inLogScope } from '#platform/telemetry/log-scope.js';
import { requestsOf } from '../batches/batch-request.js';
import { inAttemptSpan } from './attempt-span.js';
import { DeliveryAttemptService } from './delivery-attempt.service.js';
import {
  attemptCounter,
  attemptDuration,
  deliveriesInHand,
  deliveriesInHandLimit,
  finishedCounter,
} from './delivery-metrics.js';
import { DeliveryPace } from './delivery-pace.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import type { ClaimedDelivery, FinishedClaim } from './claimed-delivery.js';
import { DeliveryResultsService } from './delivery-results.service.js';
import { WakeUps } from './wake-ups.service.js';

/** Concurrent attempts per endpoint. */
const IN_HAND_PER_ENDPOINT = 32;
/**
 * For an endpoint whose last attempt here failed or was slow: enough to notice its recovery, too few to delay other endpoints.
 */
const IN_HAND_WHILE_FAILING = 4;
/** A slower attempt makes room for another one, up to a maximum, because waiting for a receiver costs almost nothing. */
const SLOW_AFTER_MS = 1000;
const TIMES_WITH_SLOW = 4;
const CLAIM_AT_ONCE = 256;
/** A claim costs a statement, so it waits until there is room for several. */
const WORTH_A_CLAIM = 8;
/** The event loop serves requests between these batches. */
const BEGUN_AT_ONCE = 8;
const POLL_EVERY_MS = 1000;

/**
 * Delivers what is due (contract §10): claims deliveries, makes the attempts, writes the results. Any number of instances may run
 * one.
 */
@Injectable()
export class DeliveryWorker extends QueueWorker {
  private readonly inHand = new Map<string, number>();
  /** Running attempts that are slow. */
  private slow = 0;
  /** Endpoints whose last attempt here failed, or is slow. */
  private readonly failing = new LRUCache<string, true>({ max: 1000 });
  private mayBeMore = false;
  /** Only reminds it: the database knows when a batch has waited long enough, and the poll finds out too. */
  private nextBatch: NodeJS.Timeout | undefined;
  private readonly pace: DeliveryPace;
  private readonly concurrency: number;

  constructor(
    private readonly queue: DeliveryQueueRepository,
    private readonly attempts: DeliveryAttemptService,
    private readonly results: DeliveryResultsService,
    server: HttpAdapterHost,
    schema: SchemaCompatibility,
    wakeUps: WakeUps,
    { works, webhookConcurrency }: Settings,
  ) {
    super('Deliveries', server, schema, works);
    this.concurrency = webhookConcurrency;
    this.pace = new DeliveryPace(
      webhookConcurrency,
      () => void this.claimDue(),
      (limit) => deliveriesInHandLimit.set(limit),
    );
    wakeUps.onDeliveries(() => void this.claimDue());
  }

  protected override readonly pollEveryMs = POLL_EVERY_MS;

  protected hasRoom(): boolean {
    return this.roomInHand() >= Math.max(1, Math.min(WORTH_A_CLAIM, this.pace.limit >> 2));
  }

  protected async claim(): Promise<boolean> {
    const room = this.roomOfEndpoints();
    const limit = Math.min(CLAIM_AT_ONCE, this.roomInHand());
    const { deliveries: claimed, ...rest } = await this.queue.claim(
      randomUUID(),
      limit,
      IN_HAND_PER_ENDPOINT,
      room,
    );
    const requests = requestsOf(claimed);
    for (const [n, each] of requests.entries()) {
      if (n > 0 && n % BEGUN_AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
      this.begin(each);
    }
    // Deliveries for which an endpoint had no room wait until an attempt ends.
    this.mayBeMore = claimed.length > 0 || [...room.values()].includes(0);
    for (const endpointId of rest.toLineUp) await this.lineUp(endpointId);
    this.remind(rest.nextBatchMs);
    if (requests.length < limit) {
      return rest.moved > 0 || rest.toLineUp.length > 0 || claimed.some(({ batch }) => batch !== null);
    }
    this.pace.wantMore();
    return true;
  }

  private remind(afterMs: number | null): void {
    clearTimeout(this.nextBatch);
    if (afterMs !== null) this.nextBatch = setTimeout(() => void this.claimDue(), afterMs).unref();
  }

  private async lineUp(endpointId: string): Promise<void> {
    while (this.isRunning && !(await this.queue.lineUp(endpointId)));
  }

  private roomInHand(): number {
    const { size } = this.underWay;
    return Math.min(this.pace.limit - (size - this.slow), TIMES_WITH_SLOW * this.concurrency - size);
  }

  /** How many more attempts of each endpoint may run, where that differs from the default. */
  private roomOfEndpoints(): Map<string, number> {
    const room = new Map<string, number>();
    for (const id of this.failing.keys()) room.set(id, IN_HAND_WHILE_FAILING);
    for (const [id, count] of this.inHand) {
      room.set(id, Math.max(0, (room.get(id) ?? IN_HAND_PER_ENDPOINT) - count));
    }
    return room;
  }

  private begin(claims: readonly ClaimedDelivery[]): void {
    const { endpointId, id } = claims[0]!;
    this.inHand.set(endpointId, (this.inHand.get(endpointId) ?? 0) + 1);
    const work = inLogScope({ delivery_id: id }, () => this.deliver(claims)).finally(() => {
      this.underWay.delete(work);
      const left = this.inHand.get(endpointId)! - 1;
      if (left > 0) this.inHand.set(endpointId, left);
      else this.inHand.delete(endpointId);
      deliveriesInHand.set(this.underWay.size);
      // What was next in its line is due now.
      if (this.mayBeMore || claims[0]!.sequenceGap !== null) void this.claimDue();
    });
    this.underWay.add(work);
    this.pace.watch();
    deliveriesInHand.set(this.underWay.size);
  }

  private async deliver(claims: readonly ClaimedDelivery[]): Promise<void> {
    const { id, endpointId, isSandbox } = claims[0]!;
    try {
      const results = await this.watched(
        endpointId,
        inAttemptSpan(claims, () => this.attempts.make(claims, this.abort.signal)),
      );
      const { attempt } = results[0]!.finished;
      if (attempt) {
        const isSuccess = results.some((each) => each.isSuccess);
        // Sandboxes must not trigger alerts.
        if (!isSandbox) attemptCounter.inc({ result: isSuccess ? 'delivered' : 'failed' });
        attemptDuration.observe(attempt.durationMs / 1000);
        if (isSuccess) this.failing.delete(endpointId);
        else this.failing.set(endpointId, true);
      }
      await this.results.write(results, endpointId);
      for (const [n, { finished }] of results.entries()) {
        const { state } = finished;
        if (state !== 'pending') finishedCounter.inc({ state });
        if (state === 'failed' && !claims[n]!.isTest) {
          this.logger.warn(failureLine(claims[n]!, finished.attempt));
        }
      }
    } catch (error) {
      // The lease expires, and the delivery is claimed again.
      const line: Line = {
        text: `Delivery ${id} failed unexpectedly and will be retried: ${(error as Error).message}`,
        fields: { delivery_id: id },
      };
      this.logger.error(line);
    }
  }

  /** Makes room for other attempts while this one is slow. */
  private async watched<T>(endpointId: string, attempt: Promise<T>): Promise<T> {
    let isSlow = false;
    const timer = setTimeout(() => {
      isSlow = true;
      this.slow++;
      this.failing.set(endpointId, true);
      if (this.mayBeMore) void this.claimDue();
    }, SLOW_AFTER_MS);
    try {
      return await attempt;
    } finally {
      clearTimeout(timer);
      if (isSlow) this.slow--;
    }
  }
}

/** Describes the failure without the response and the URL, which must not be logged. */
const failureLine = ({ id, endpointId }: ClaimedDelivery, attempt: FinishedClaim['attempt']): Line => ({
  text: `Delivery ${id} to ${endpointId} failed permanently: ${attempt?.failure ?? `status ${attempt?.status}`}`,
  fields: { delivery_id: id },
});

import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Interval } from '@nestjs/schedule';
import type { FastifyInstance } from 'fastify';
import { LRUCache } from 'lru-cache';
import { randomUUID } from 'node:crypto';
import { SchemaCompatibility } from '../../database/migrations/schema-compatibility.service.js';
import type { Line } from '../../http/server/logging.js';
import { detached, inLogScope } from '../../telemetry/log-scope.js';
import { inAttemptSpan } from './attempt-span.js';
import { DeliveryAttemptService } from './delivery-attempt.service.js';
import { attemptCounter, attemptDuration, deliveriesInHand, finishedCounter } from './delivery-metrics.js';
import { DeliveryQueueRepository } from './delivery-queue.repository.js';
import type { ClaimedDelivery, FinishedClaim } from './claimed-delivery.js';
import { DeliveryResultsService } from './delivery-results.service.js';
import { WakeUps } from './wake-ups.service.js';

/** Concurrent attempts, in total and per endpoint. */
const IN_HAND = 512;
const IN_HAND_PER_ENDPOINT = 32;
/**
 * For an endpoint whose last attempt here failed or was slow: enough to notice that it is back, too few to hold up the others.
 */
const IN_HAND_WHILE_FAILING = 4;
/** An attempt that takes longer makes room for another, up to a maximum, because waiting for a receiver costs almost nothing. */
const SLOW_AFTER_MS = 1000;
const IN_HAND_WITH_SLOW = 2048;
const CLAIM_AT_ONCE = 256;
const POLL_EVERY_MS = 1000;
/** Contract §14: attempts still running this long after SIGTERM are aborted. */
const ABORT_AFTER_MS = 8_000;

/** One of any number of workers that deliver what is due (contract §10): claims, attempts, writes the results. */
@Injectable()
export class DeliveryWorker implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(DeliveryWorker.name);
  private readonly inHand = new Map<string, number>();
  /** Running attempts that are slow. */
  private slow = 0;
  /** Endpoints whose last attempt here failed, or is slow. */
  private readonly failing = new LRUCache<string, true>({ max: 1000 });
  private readonly underWay = new Set<Promise<void>>();
  private readonly abort = new AbortController();
  private isClaiming = false;
  private claimAgain = false;
  private mayBeMore = false;
  private isRunning = false;
  private stopped = Promise.resolve();

  constructor(
    private readonly queue: DeliveryQueueRepository,
    private readonly attempts: DeliveryAttemptService,
    private readonly results: DeliveryResultsService,
    private readonly server: HttpAdapterHost,
    private readonly schema: SchemaCompatibility,
    wakeUps: WakeUps,
  ) {
    wakeUps.onWakeUp(() => void this.claimDue());
  }

  onModuleInit(): void {
    // The last moment before the connection pool is closed, which is the first thing that a shutdown ends.
    const fastify = this.server.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onClose', () => this.stopped);
  }

  onApplicationBootstrap(): void {
    this.isRunning = true;
    void this.claimDue();
  }

  /** Starts to stop: running attempts finish while the server finishes its requests. */
  beforeApplicationShutdown(): void {
    this.isRunning = false;
    this.stopped = this.finish();
  }

  @Interval(POLL_EVERY_MS)
  protected poll(): void {
    void this.claimDue();
  }

  /** Claims and starts due deliveries for as long as there are any and there is room. */
  private claimDue(): Promise<void> {
    return detached(() => this.claimWhileRoom());
  }

  private async claimWhileRoom(): Promise<void> {
    this.claimAgain = true;
    if (this.isClaiming || !this.isRunning || this.schema.isOutdated) return;
    this.isClaiming = true;
    try {
      while (this.claimAgain && this.isRunning && this.roomInHand() > 0) {
        this.claimAgain = false;
        const room = this.roomOfEndpoints();
        const limit = Math.min(CLAIM_AT_ONCE, this.roomInHand());
        const claimed = await this.queue.claim(randomUUID(), limit, IN_HAND_PER_ENDPOINT, room);
        for (const claim of claimed) this.begin(claim);
        // Deliveries for which an endpoint had no room wait until an attempt ends.
        this.mayBeMore = claimed.length > 0 || [...room.values()].includes(0);
        if (claimed.length >= CLAIM_AT_ONCE) this.claimAgain = true;
      }
    } catch (error) {
      this.logger.warn(`Deliveries could not be claimed: ${(error as Error).message}`);
    } finally {
      this.isClaiming = false;
    }
  }

  private roomInHand(): number {
    const { size } = this.underWay;
    return Math.min(IN_HAND - (size - this.slow), IN_HAND_WITH_SLOW - size);
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

  private begin(claim: ClaimedDelivery): void {
    const { endpointId } = claim;
    this.inHand.set(endpointId, (this.inHand.get(endpointId) ?? 0) + 1);
    const work = inLogScope({ delivery_id: claim.id }, () => this.deliver(claim)).finally(() => {
      this.underWay.delete(work);
      const left = this.inHand.get(endpointId)! - 1;
      if (left > 0) this.inHand.set(endpointId, left);
      else this.inHand.delete(endpointId);
      deliveriesInHand.set(this.underWay.size);
      if (this.mayBeMore) void this.claimDue();
    });
    this.underWay.add(work);
    deliveriesInHand.set(this.underWay.size);
  }

  private async deliver(claim: ClaimedDelivery): Promise<void> {
    try {
      const result = await this.watched(
        claim.endpointId,
        inAttemptSpan(claim, () => this.attempts.make(claim, this.abort.signal)),
      );
      const { attempt } = result.finished;
      if (attempt) {
        attemptCounter.inc({ result: result.isSuccess ? 'delivered' : 'failed' });
        attemptDuration.observe(attempt.durationMs / 1000);
        if (result.isSuccess) this.failing.delete(claim.endpointId);
        else this.failing.set(claim.endpointId, true);
      }
      await this.results.write(result, claim.endpointId);
      const { state } = result.finished;
      if (state !== 'pending') finishedCounter.inc({ state });
      if (state === 'failed' && !claim.isTest) this.logger.warn(failureLine(claim, attempt));
    } catch (error) {
      // The lease expires, and the delivery is claimed again.
      const line: Line = {
        text: `Delivery ${claim.id} failed unexpectedly and will be retried: ${(error as Error).message}`,
        fields: { delivery_id: claim.id },
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

  private async finish(): Promise<void> {
    const timer = setTimeout(() => this.abort.abort(), ABORT_AFTER_MS);
    while (this.isClaiming || this.underWay.size > 0) {
      await Promise.allSettled(this.underWay);
      if (this.isClaiming) await new Promise((resolve) => setTimeout(resolve, 10));
    }
    clearTimeout(timer);
  }
}

/** The failure as one of our own words: the response and the URL must not be logged. */
const failureLine = ({ id, endpointId }: ClaimedDelivery, attempt: FinishedClaim['attempt']): Line => ({
  text: `Delivery ${id} to ${endpointId} failed permanently: ${attempt?.failure ?? `status ${attempt?.status}`}`,
  fields: { delivery_id: id },
});

import {
  Injectable,
  Logger,
  type BeforeApplicationShutdown,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { Settings } from '../config/settings.js';
import { SchemaCompatibility } from '../database/migrations/schema-compatibility.service.js';
import { Transactions } from '../database/queries/transactions.js';
import { detached } from '../telemetry/log-scope.js';
import { PublishingService } from '../webhooks/events/publishing.service.js';
import { PlansRepository } from './plans.repository.js';
import { SandboxClock } from './sandbox-clock.js';

/** How soon events are found that another instance planned, or was about to publish when it died. */
const POLL_EVERY_MS = 5_000;
// Events of one second are published together.
const AT_LEAST_MS = 500;

/**
 * One of any number of workers that publish planned events at their time (contract §19). An event leaves the plan in the transaction
 * that stores it with its deliveries, so it is published once, whichever instance dies when.
 */
@Injectable()
export class PlannedEventsWorker implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly logger = new Logger(PlannedEventsWorker.name);
  private isRunning = false;
  private isWanted = false;
  private isPublishing = false;
  private timer: NodeJS.Timeout | undefined;
  private underWay: Promise<void> | undefined;

  constructor(
    private readonly plans: PlansRepository,
    private readonly publishing: PublishingService,
    private readonly clock: SandboxClock,
    private readonly transactions: Transactions,
    private readonly schema: SchemaCompatibility,
    private readonly server: HttpAdapterHost,
    private readonly settings: Settings,
  ) {}

  onModuleInit(): void {
    // The last moment before the connection pool is closed.
    const fastify = this.server.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('onClose', () => this.underWay);
  }

  onApplicationBootstrap(): void {
    this.isRunning = this.settings.works;
    this.wake();
  }

  beforeApplicationShutdown(): void {
    this.isRunning = false;
    clearTimeout(this.timer);
  }

  /** Publishes what is due, and from then on what becomes due. */
  wake(): void {
    this.isWanted = true;
    if (!this.isRunning || this.isPublishing) return;
    clearTimeout(this.timer);
    this.underWay = detached(() => this.publishDue());
  }

  private async publishDue(): Promise<void> {
    this.isPublishing = true;
    let wait = POLL_EVERY_MS;
    const passedOver: string[] = [];
    try {
      while (this.isWanted && this.isRunning && !this.schema.isOutdated) {
        this.isWanted = false;
        // Only what is due costs a transaction.
        const seconds = (await this.plans.secondsUntilNext(this.clock.aheadSeconds)) ?? Infinity;
        if (seconds <= 0 && (await this.publishSome(passedOver))) this.isWanted = true;
        else wait = Math.min(POLL_EVERY_MS, Math.max(AT_LEAST_MS, seconds * 1000));
      }
    } catch (error) {
      this.isWanted = false;
      this.logger.warn(
        `Planned events could not be published, and will be later: ${(error as Error).message}`,
      );
    }
    // Nothing is awaited since the last look at what is wanted: whoever wants something from here on starts it anew.
    this.isPublishing = false;
    if (this.isRunning) this.timer = setTimeout(() => this.wake(), wait).unref();
  }

  /**
   * Publishes some events of one driver; false if there are none that this instance could take. A driver whose events are gone, or
   * who is being erased, is passed over.
   */
  private async publishSome(passedOver: string[]): Promise<boolean> {
    const done = await this.transactions.run(async (manager) => {
      const due = await this.plans.findDue(manager, this.clock.aheadSeconds, passedOver);
      if (!due) return undefined;
      // Before anything is written.
      const prepared = await this.publishing.prepareIn(manager, due.events, {
        id: due.ownerId,
        realm: due.ownerId,
      });
      const taken = await this.plans.take(manager, due);
      const events = prepared
        .filter(({ publication }) => taken.has(publication.plannedId))
        .map(({ event }) => event);
      const deliveries = await this.publishing.publishIn(manager, events);
      return { driver: due.userId, taken: taken.size, deliveries };
    });
    if (!done) return false;
    if (done.taken === 0) passedOver.push(done.driver);
    else this.publishing.announce(done.deliveries);
    return true;
  }
}

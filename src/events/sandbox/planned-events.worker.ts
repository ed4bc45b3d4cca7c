import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Settings } from '#platform/config/settings.js';
import { QueueWorker } from '#platform/database/background/queue-worker.js';
import { SchemaCompatibility } from '#platform/database/migrations/schema-compatibility.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { PublishingService } from '#events/webhooks/events/publishing.service.js';
import { PlansRepository } from './plans.repository.js';

/** The clock of sandboxes: the database's, or ahead of it, where someone does not want to wait for a session. */
@Injectable()
export class SandboxClock {
  aheadSeconds = 0;
}

/** How soon events are found that another instance planned, or was about to publish when it died. */
const POLL_EVERY_MS = 5_000;
// Events of one second are published together.
const AT_LEAST_MS = 500;

/**
 * One of any number of workers that publish planned events at their time (contract §19). An event leaves the plan in the transaction
 * that stores it with its deliveries, so it is published once, whichever instance dies when.
 */
@Injectable()
export class PlannedEventsWorker extends QueueWorker {
  private timer: NodeJS.Timeout | undefined;
  private wait = POLL_EVERY_MS;
  private passedOver: string[] = [];

  constructor(
    private readonly plans: PlansRepository,
    private readonly publishing: PublishingService,
    private readonly clock: SandboxClock,
    private readonly transactions: Transactions,
    schema: SchemaCompatibility,
    server: HttpAdapterHost,
    { works }: Settings,
  ) {
    super('Planned events', server, schema, works);
  }

  override beforeApplicationShutdown(): void {
    super.beforeApplicationShutdown();
    clearTimeout(this.timer);
  }

  /** Publishes what is due, and from then on what becomes due. */
  wake(): void {
    void this.claimDue();
  }

  protected override async claimDue(): Promise<void> {
    await super.claimDue();
    clearTimeout(this.timer);
    if (this.isRunning) this.timer = setTimeout(() => this.wake(), this.wait).unref();
  }

  protected hasRoom(): boolean {
    return true;
  }

  protected async claim(): Promise<boolean> {
    this.wait = POLL_EVERY_MS;
    // Only what is due costs a transaction.
    const seconds = (await this.plans.secondsUntilNext(this.clock.aheadSeconds)) ?? Infinity;
    if (seconds <= 0 && (await this.publishSome())) return true;
    this.wait = Math.min(POLL_EVERY_MS, Math.max(AT_LEAST_MS, seconds * 1000));
    this.passedOver = [];
    return false;
  }

  /**
   * Publishes some events of one driver; false if there are none that this instance could take. A driver whose events are gone, or
   * who is being erased, is passed over.
   */
  private async publishSome(): Promise<boolean> {
    const done = await this.transactions.run(async () => {
      const due = await this.plans.findDue(this.clock.aheadSeconds, this.passedOver);
      if (!due) return undefined;
      // Before anything is written.
      const prepared = await this.publishing.prepare(due.events, {
        id: due.ownerId,
        realm: due.ownerId,
      });
      const taken = await this.plans.take(due);
      const events = prepared
        .filter(({ publication }) => taken.has(publication.plannedId))
        .map(({ event }) => event);
      const deliveries = await this.publishing.publishPrepared(events);
      return { driver: due.userId, taken: taken.size, deliveries };
    });
    if (!done) return false;
    if (done.taken === 0) this.passedOver.push(done.driver);
    else this.publishing.announce(done.deliveries);
    return true;
  }
}

import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Listener } from '#platform/database/connections/listener.service.js';
import { detached } from '#platform/telemetry/log-scope.js';
import { DeliveryQueueRepository, WAKE_UP_CHANNEL } from './delivery-queue.repository.js';

// Other instances are notified at most once in this time.
const ANNOUNCE_EVERY_MS = 50;

/** What is new: events with deliveries, or events that are only in the feed. */
type News = 'deliveries' | 'events';

/**
 * Wakes the delivery workers of all instances when there is something to deliver, and readers of the feed when there are events:
 * those of this instance directly, others by LISTEN/NOTIFY. Polling makes up for lost notifications.
 */
@Injectable()
export class WakeUps implements BeforeApplicationShutdown {
  private readonly logger = new Logger(WakeUps.name);
  private readonly listeners: Record<News, (() => void)[]> = { deliveries: [], events: [] };
  private announcement: NodeJS.Timeout | undefined;
  private announced: News = 'events';
  private stopped = false;

  constructor(
    private readonly queue: DeliveryQueueRepository,
    listener: Listener,
  ) {
    listener.listen(WAKE_UP_CHANNEL, {
      onConnected: () => this.wakeOwn('deliveries'),
      onAnnouncement: (payload) => this.wakeOwn(payload === 'events' ? 'events' : 'deliveries'),
    });
  }

  beforeApplicationShutdown(): void {
    this.stopped = true;
    clearTimeout(this.announcement);
  }

  /** Calls the listener when there may be something to deliver; `DeliveryWorker` then claims what is due. */
  onDeliveries(listener: () => void): void {
    this.listeners.deliveries.push(listener);
  }

  /** Calls the listener when there are new events, for readers of the feed. */
  onEvents(listener: () => void): void {
    this.listeners.events.push(listener);
  }

  /** Announces that there is something to deliver, or only that there are events. */
  announce(news: News = 'deliveries'): void {
    this.wakeOwn(news);
    if (this.stopped) return;
    if (news === 'deliveries') this.announced = news;
    this.announcement ??= detached(() => this.announceLater());
  }

  private announceLater(): NodeJS.Timeout {
    return setTimeout(() => {
      this.announcement = undefined;
      const { announced } = this;
      this.announced = 'events';
      this.queue
        .wakeOthers(announced)
        .catch((error: Error) =>
          this.logger.debug(`Other instances could not be notified: ${error.message}`),
        );
    }, ANNOUNCE_EVERY_MS).unref();
  }

  private wakeOwn(news: News): void {
    for (const listener of this.listeners.events) listener();
    if (news === 'deliveries') for (const listener of this.listeners.deliveries) listener();
  }
}

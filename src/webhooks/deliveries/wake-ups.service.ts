import { Injectable, Logger, type BeforeApplicationShutdown } from '@nestjs/common';
import { Listener } from '../../database/connections/listener.service.js';
import { detached } from '../../telemetry/log-scope.js';
import { DeliveryQueueRepository, WAKE_UP_CHANNEL } from './delivery-queue.repository.js';

// Other instances are notified at most once in this time.
const ANNOUNCE_EVERY_MS = 50;

/**
 * Wakes the delivery workers of all instances when there is something to deliver: those of this instance directly, others by
 * LISTEN/NOTIFY. Lost notifications are made up for by polling.
 */
@Injectable()
export class WakeUps implements BeforeApplicationShutdown {
  private readonly logger = new Logger(WakeUps.name);
  private readonly listeners: (() => void)[] = [];
  private announcement: NodeJS.Timeout | undefined;
  private stopped = false;

  constructor(
    private readonly queue: DeliveryQueueRepository,
    listener: Listener,
  ) {
    const wakeOwn = () => this.wakeOwn();
    listener.listen(WAKE_UP_CHANNEL, { onConnected: wakeOwn, onAnnouncement: wakeOwn });
  }

  beforeApplicationShutdown(): void {
    this.stopped = true;
    clearTimeout(this.announcement);
  }

  /** Called once by each worker of this instance. */
  onWakeUp(listener: () => void): void {
    this.listeners.push(listener);
  }

  /** Announces that there is something to deliver. */
  announce(): void {
    this.wakeOwn();
    if (this.stopped) return;
    this.announcement ??= detached(() => this.announceLater());
  }

  private announceLater(): NodeJS.Timeout {
    return setTimeout(() => {
      this.announcement = undefined;
      this.queue
        .wakeOthers()
        .catch((error: Error) =>
          this.logger.debug(`Other instances could not be notified: ${error.message}`),
        );
    }, ANNOUNCE_EVERY_MS).unref();
  }

  private wakeOwn(): void {
    for (const listener of this.listeners) listener();
  }
}

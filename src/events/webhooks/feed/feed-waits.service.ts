import { Injectable, Logger, type BeforeApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { detached } from '#platform/telemetry/log-scope.js';
import { WakeUps } from '../deliveries/wake-ups.service.js';
import { EventFeedRepository } from './event-feed.repository.js';
import { BEGINNING, type FeedPosition } from './feed-position.js';

/** The interval without announcements: notifications can be lost. */
const LOOK_EVERY_MS = 1_000;
/** The least time between two checks, however many events are announced, and while events are held up. */
const PAUSE_MS = 50;
/** The longest wait that starts during a shutdown, so that retries don't use up the rate limit. */
const WHILE_STOPPING_MS = 1_000;

/** A reader who waits for events of a client. */
export interface FeedWait {
  /**
   * Waits for the next events that may be for the client, for at most this long; false if there were none. A shutdown ends it; one
   * that starts during the shutdown, while the port is still open, waits for a second at most.
   */
  next: (milliseconds: number) => Promise<boolean>;
  /** Ends it. */
  end: () => void;
}

interface Waiter {
  clientId: string;
  isWoken: boolean;
  wake: () => void;
}

/**
 * Readers who wait for events (contract §21). They hold no database connection: for all of them together, this instance checks which
 * clients have new events, whenever events are announced and once a second, and wakes those.
 */
@Injectable()
export class FeedWaits implements OnModuleInit, BeforeApplicationShutdown {
  private readonly logger = new Logger(FeedWaits.name);
  private readonly waiters = new Set<Waiter>();
  /** The position of the last check; undefined while nobody waits. */
  private position: FeedPosition | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isSoon = false;
  private isLooking = false;
  private isAnnounced = false;
  private hasStopped = false;
  private isPortClosing = false;

  constructor(
    private readonly repository: EventFeedRepository,
    private readonly server: HttpAdapterHost,
    wakeUps: WakeUps,
  ) {
    wakeUps.onEvents(() => this.announced());
  }

  onModuleInit(): void {
    // After the hook that keeps the port open for a while. From then on the shutdown waits for every answer.
    const fastify = this.server.httpAdapter.getInstance<FastifyInstance>();
    fastify.addHook('preClose', async () => {
      this.isPortClosing = true;
      this.wakeAll();
    });
  }

  beforeApplicationShutdown(): void {
    this.hasStopped = true;
    clearTimeout(this.timer);
    this.wakeAll();
  }

  /** Whether the checks have ended. */
  get isStopped(): boolean {
    return this.hasStopped;
  }

  /** Call before first reading the events: everything settled after that read wakes it. */
  begin(clientId: string): FeedWait {
    const waiter: Waiter = { clientId, isWoken: false, wake: () => undefined };
    this.waiters.add(waiter);
    this.announced();
    return {
      next: (milliseconds) => this.wait(waiter, milliseconds),
      end: () => this.remove(waiter),
    };
  }

  private async wait(waiter: Waiter, milliseconds: number): Promise<boolean> {
    if (!waiter.isWoken && !this.isPortClosing) {
      const longest = this.hasStopped ? Math.min(milliseconds, WHILE_STOPPING_MS) : milliseconds;
      let timer: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        waiter.wake = resolve;
        timer = setTimeout(resolve, longest);
      });
      clearTimeout(timer);
    }
    const { isWoken } = waiter;
    waiter.isWoken = false;
    return isWoken;
  }

  private wakeAll(): void {
    for (const waiter of this.waiters) wake(waiter);
  }

  private remove(waiter: Waiter): void {
    wake(waiter);
    this.waiters.delete(waiter);
    if (this.waiters.size > 0) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.position = undefined;
  }

  private announced(): void {
    if (this.waiters.size === 0) return;
    if (this.isLooking) this.isAnnounced = true;
    else this.lookAgain(true);
  }

  /** Plans the next check, unless one is planned sooner. */
  private lookAgain(isSoon: boolean): void {
    if (this.hasStopped || this.isLooking || (this.timer && (this.isSoon || !isSoon))) return;
    clearTimeout(this.timer);
    this.isSoon = isSoon;
    const milliseconds = isSoon ? PAUSE_MS : LOOK_EVERY_MS;
    this.timer = detached(() => setTimeout(() => void this.look(), milliseconds).unref());
  }

  private async look(): Promise<void> {
    this.timer = undefined;
    if (this.waiters.size === 0 || this.isLooking) return;
    this.isLooking = true;
    this.isAnnounced = false;
    let isMore = false;
    try {
      isMore = await this.wakeThoseWithNews();
    } catch (error) {
      this.logger.debug(`New events could not be looked for: ${(error as Error).message}`);
    } finally {
      this.isLooking = false;
    }
    if (this.waiters.size > 0) this.lookAgain(isMore || this.isAnnounced);
  }

  /** Returns whether to check again soon. */
  private async wakeThoseWithNews(): Promise<boolean> {
    const asked = new Set(this.waiters);
    const from = this.position ?? (await this.repository.newest()) ?? BEGINNING;
    const news = await this.repository.newsFor(
      [...new Set([...asked].map(({ clientId }) => clientId))],
      from,
    );
    for (const waiter of this.waiters) {
      // Readers who came during the check, or for whom it was the first, may have missed events before it.
      const mayHaveMissed = !asked.has(waiter) || this.position === undefined;
      if (mayHaveMissed || news.clients.includes(waiter.clientId)) wake(waiter);
    }
    if (this.waiters.size > 0) this.position = news.last ?? from;
    return news.isHeldUp || news.isMore;
  }
}

function wake(waiter: Waiter): void {
  waiter.isWoken = true;
  waiter.wake();
}

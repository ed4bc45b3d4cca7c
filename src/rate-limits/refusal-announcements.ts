import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { HOUR_MS } from '../config/durations.js';
import { Settings } from '../config/settings.js';
import type { RateLimitStore } from './rate-limit-store.js';
import { connectRedis } from './redis-connection.js';
import { SharedRateLimitStore } from './shared-rate-limit-store.js';
import { RATE_LIMIT_STORE } from './store-token.js';

/** The channel of Redis on which instances announce refusals. */
const REFUSALS_CHANNEL = 'cds:refusals';

/** That a key is over its limit, and for how long. */
export interface AnnouncedRefusal {
  key: string;
  limit: number;
  retryAfterMs: number;
}

/**
 * Tells the other instances over Redis that a caller is over its limit, so that they refuse it before they look anything up. An
 * instance that misses an announcement learns it at its first refusal of that caller.
 */
@Injectable()
export class RefusalAnnouncements implements OnApplicationShutdown {
  private readonly logger = new Logger('RateLimits');
  private subscriber: Redis | Cluster | undefined;
  private isForbidden = false;

  constructor(
    @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore,
    private readonly settings: Settings,
  ) {}

  /** Calls `heard` for each refusal that an instance announces, this one included. */
  listen(heard: (refusal: AnnouncedRefusal) => void): void {
    if (this.settings.redisUrl === undefined) return;
    const subscriber = connectRedis(this.settings.redisUrl);
    this.subscriber = subscriber;
    // The connection of the store reports when Redis is unavailable.
    subscriber.on('error', () => undefined);
    subscriber.on('ready', () => {
      subscriber.subscribe(REFUSALS_CHANNEL).catch((error: unknown) => this.notSubscribed(error));
    });
    subscriber.on('message', (_channel: string, message: string) => {
      const refusal = readAnnouncement(message, Date.now());
      if (refusal) heard(refusal);
    });
  }

  /** Does not wait for Redis. */
  announce(refusal: AnnouncedRefusal): void {
    if (this.store instanceof SharedRateLimitStore) {
      this.store.publish(REFUSALS_CHANNEL, writeAnnouncement(refusal, Date.now()));
    }
  }

  onApplicationShutdown(): void {
    this.subscriber?.disconnect();
  }

  private notSubscribed(error: unknown): void {
    // Otherwise the connection ended, and the next one subscribes again.
    if (this.isForbidden || !String(error).includes('NOPERM')) return;
    this.isForbidden = true;
    this.logger.warn(
      `The user of REDIS_URL may not use the channel ${REFUSALS_CHANNEL}: instances do not tell each other who is over a limit`,
    );
  }
}

/** The message of a refusal that begins at `now`, in milliseconds since 1970. */
export const writeAnnouncement = (refusal: AnnouncedRefusal, now: number): string =>
  JSON.stringify({ ...refusal, at: now });

/** What is left of a refusal when its message is read; undefined if nothing is, or the message is not of this kind. */
export function readAnnouncement(message: string, now: number): AnnouncedRefusal | undefined {
  let content: Partial<Record<keyof AnnouncedRefusal | 'at', unknown>> | null;
  try {
    content = JSON.parse(message) as typeof content;
  } catch {
    return undefined;
  }
  const { key, limit, retryAfterMs, at } = content ?? {};
  if (typeof key !== 'string' || typeof limit !== 'number') return undefined;
  if (typeof retryAfterMs !== 'number' || typeof at !== 'number' || retryAfterMs > HOUR_MS) return undefined;
  // The clocks of instances differ: a refusal may end early, but never late.
  const left = retryAfterMs - Math.max(0, now - at);
  return left > 0 ? { key, limit, retryAfterMs: left } : undefined;
}

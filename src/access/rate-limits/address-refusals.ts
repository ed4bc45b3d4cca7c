import { Inject, Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { Cluster, type Redis } from 'ioredis';
import { HOUR_MS } from '#platform/config/durations.js';
import { Settings } from '#platform/config/settings.js';
import { type RateLimitStore, RATE_LIMIT_STORE } from './store/rate-limit-store.js';
import { connectRedis } from './store/redis-connection.js';
import { SharedRateLimitStore } from './store/shared-rate-limit-store.js';

/** The channel of Redis on which instances announce that they refuse an address. Redis has one for all of its databases. */
const REFUSALS_CHANNEL = 'cds:refusals';

/** An address (by its key) that is over its limit, and for how long. */
export interface AddressRefusal {
  key: string;
  limit: number;
  retryAfterMs: number;
}

/**
 * Tells the other instances over Redis that an address is over its limit, so that they refuse it before they look anything up. An
 * instance that misses an announcement finds out when it counts a request of that address.
 */
@Injectable()
export class AddressRefusals implements OnApplicationShutdown {
  private readonly logger = new Logger('RateLimits');
  private subscriber: Redis | Cluster | undefined;
  private database = 0;
  private isForbidden = false;

  constructor(
    @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore,
    private readonly settings: Settings,
  ) {}

  /** Calls `heard` for each refusal that an instance announces, this one included. */
  listen(heard: (refusal: AddressRefusal) => void): void {
    if (this.settings.redisUrl === undefined) return;
    const subscriber = connectRedis(this.settings.redisUrl);
    this.subscriber = subscriber;
    this.database = databaseOf(subscriber);
    // The store's own connection reports that Redis is unavailable.
    subscriber.on('error', () => undefined);
    subscriber.on('ready', () => {
      subscriber.subscribe(REFUSALS_CHANNEL).catch((error: unknown) => this.notSubscribed(error));
    });
    subscriber.on('message', (_channel: string, message: string) => {
      const refusal = readAnnouncement(message, this.database, Date.now());
      if (refusal) heard(refusal);
    });
  }

  /** Does not wait for Redis. */
  announce(refusal: AddressRefusal): void {
    if (this.store instanceof SharedRateLimitStore) {
      this.store.publish(REFUSALS_CHANNEL, writeAnnouncement(refusal, this.database, Date.now()));
    }
  }

  onApplicationShutdown(): void {
    this.subscriber?.disconnect();
  }

  private notSubscribed(error: unknown): void {
    // Any other error: the connection ended, and the next one subscribes again.
    if (this.isForbidden || !String(error).includes('NOPERM')) return;
    this.isForbidden = true;
    this.logger.warn(
      `The user of REDIS_URL may not use the channel ${REFUSALS_CHANNEL}: instances do not tell each other which addresses are over their limit`,
    );
  }
}

/** The number of the database that the counters are in; a cluster has one. */
const databaseOf = (connection: Redis | Cluster): number =>
  connection instanceof Cluster ? 0 : (connection.options.db ?? 0);

/** The message of a refusal that begins at `now`, in milliseconds since 1970, by the counters of this database. */
export const writeAnnouncement = (refusal: AddressRefusal, database: number, now: number): string =>
  JSON.stringify({ ...refusal, database, at: now });

/**
 * The remaining refusal when its message is read; undefined if it is over, belongs to the counters of another database, or is not
 * such a message.
 */
export function readAnnouncement(
  message: string,
  ownDatabase: number,
  now: number,
): AddressRefusal | undefined {
  let content: Partial<Record<keyof AddressRefusal | 'database' | 'at', unknown>> | null;
  try {
    content = JSON.parse(message) as typeof content;
  } catch {
    return undefined;
  }
  const { key, limit, retryAfterMs, database, at } = content ?? {};
  if (database !== ownDatabase) return undefined;
  if (typeof key !== 'string' || typeof limit !== 'number') return undefined;
  if (typeof retryAfterMs !== 'number' || typeof at !== 'number' || retryAfterMs > HOUR_MS) return undefined;
  // The clocks of instances differ: a refusal may end early, but never late.
  const left = retryAfterMs - Math.max(0, now - at);
  return left > 0 ? { key, limit, retryAfterMs: left } : undefined;
}

import {
  Logger,
  type LoggerService,
  Inject,
  Injectable,
  type OnApplicationShutdown,
  type OnModuleInit,
} from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { withTimeout, TimeoutError } from './with-timeout.js';
import { MemoryRateLimitStore } from './memory-rate-limit-store.js';
import {
  checkRate,
  checkWindow,
  type RateLimitDecision,
  type RateLimitStore,
  storageKey,
  RATE_LIMIT_STORE,
} from './rate-limit-store.js';
import { connectRedis, DISCONNECT_MS } from './redis-connection.js';
import { CONSUME, GIVE_BACK, USED } from './redis-scripts.js';
import type { Settings } from '#platform/config/settings.js';
import { sharedStoreGauge } from '../rate-limit-metrics.js';

interface Scripts {
  rateLimitConsume(key: string, limit: number, windowMs: number): Promise<[number, number, number]>;
  rateLimitUsed(key: string, windowMs: number): Promise<number>;
  rateLimitGiveBack(key: string, windowMs: number): Promise<number>;
}

/** The Redis key: the prefix, and the caller's key as the hash tag by which a cluster chooses the server. */
export function redisKey(key: string): string {
  return `cds:rl:{${storageKey(key)}}`;
}

/**
 * Counts in Redis 5 or later, a single server or a cluster, for any number of instances. One script decides and counts
 * atomically, by Redis's clock. Rejects if Redis is unavailable; keys expire on their own.
 */
export class RedisRateLimitStore implements RateLimitStore {
  private readonly scripts: Scripts;

  constructor(private readonly client: Redis | Cluster) {
    client.defineCommand('rateLimitConsume', { numberOfKeys: 1, lua: CONSUME });
    client.defineCommand('rateLimitUsed', { numberOfKeys: 1, lua: USED });
    client.defineCommand('rateLimitGiveBack', { numberOfKeys: 1, lua: GIVE_BACK });
    this.scripts = client as unknown as Scripts;
  }

  async consume(key: string, limit: number, windowMs: number): Promise<RateLimitDecision> {
    checkRate(limit, windowMs);
    const [allowed, remaining, retryAfterMs] = await this.scripts.rateLimitConsume(
      redisKey(key),
      limit,
      windowMs,
    );
    return { allowed: allowed === 1, remaining, retryAfterMs };
  }

  async used(key: string, windowMs: number): Promise<number> {
    checkWindow(windowMs);
    return this.scripts.rateLimitUsed(redisKey(key), windowMs);
  }

  async giveBack(key: string, windowMs: number): Promise<void> {
    checkWindow(windowMs);
    await this.scripts.rateLimitGiveBack(redisKey(key), windowMs);
  }

  async clear(key: string): Promise<void> {
    await this.client.del(redisKey(key));
  }
}

/** The longest that a request waits for Redis, in milliseconds. */
const ANSWER_MS = 100;
const PROBE_EVERY_MS = 250;
// Half of what a request may wait, so that a slow Redis does not switch back and forth all the time.
const PROBE_ANSWER_MS = 50;
// A connection whose other side vanished silently would otherwise be waited on for minutes.
const GIVE_UP_CONNECTION_MS = 2_000;
const START_MS = 1_000;
// Enough keys to reach every server of a cluster, one of which may be down.
const PROBES_OF_A_CLUSTER = 16;

export interface SharedRateLimitStoreOptions {
  logger?: Pick<LoggerService, 'log' | 'warn'>;
  /** Called when counting becomes shared between the instances (true) or local (false). */
  onStateChange?: (shared: boolean) => void;
  /** Counts while Redis is unavailable. */
  local?: RateLimitStore;
}

/**
 * Counts in Redis, and in this process while Redis is unavailable. After the first request without a response within 100 ms,
 * requests no longer wait for Redis. It is probed in the background and used again once it responds promptly.
 */
export class SharedRateLimitStore implements RateLimitStore {
  private readonly client: Redis | Cluster;
  private readonly redis: RedisRateLimitStore;
  private readonly local: RateLimitStore;
  private readonly logger: Pick<LoggerService, 'log' | 'warn'>;
  private readonly onStateChange: (shared: boolean) => void;
  private state: 'starting' | 'shared' | 'local' | 'closed' = 'starting';
  private markStarted!: () => void;
  private readonly started = new Promise<void>((resolve) => (this.markStarted = resolve));
  private readonly startedAt = performance.now();
  private ticking: NodeJS.Timeout | undefined;
  private probingSince: number | undefined;
  private connectionError: unknown;
  private errors = 0;
  /** Whether the log says why Redis is unavailable. */
  private isExplained = false;

  constructor(url: string, options: SharedRateLimitStoreOptions = {}) {
    this.logger = options.logger ?? new Logger('RateLimits');
    this.onStateChange = options.onStateChange ?? (() => undefined);
    this.local = options.local ?? new MemoryRateLimitStore();
    this.client = connectRedis(url);
    this.redis = new RedisRateLimitStore(this.client);
    this.client.on('error', (error: unknown) => {
      this.errors++;
      this.connectionError = error;
      this.explain(error);
    });
    this.client.on('close', () => this.leave(this.connectionError));
    this.client.on('ready', () => {
      this.connectionError = undefined;
      void this.probe();
    });
    this.keepProbing();
  }

  /** Whether requests are currently counted in Redis. */
  get shared(): boolean {
    return this.state === 'shared';
  }

  /** Resolves once it is known whether Redis is available: within about a second, either way. */
  ready(): Promise<void> {
    return this.started;
  }

  async consume(key: string, limit: number, windowMs: number): Promise<RateLimitDecision> {
    checkRate(limit, windowMs);
    return this.by((store) => store.consume(key, limit, windowMs));
  }

  async used(key: string, windowMs: number): Promise<number> {
    checkWindow(windowMs);
    return this.by((store) => store.used(key, windowMs));
  }

  async giveBack(key: string, windowMs: number): Promise<void> {
    checkWindow(windowMs);
    return this.by((store) => store.giveBack(key, windowMs));
  }

  async clear(key: string): Promise<void> {
    // Local counts of an outage must not reappear in the next one.
    await this.local.clear(key);
    await this.by((store) => store.clear(key));
  }

  /** Sends a message to the listeners of the channel; it is lost while Redis is unavailable. */
  publish(channel: string, message: string): void {
    if (this.state === 'shared') this.client.publish(channel, message).catch(() => undefined);
  }

  /** Closes the connection and ends all background work; later requests are counted locally. */
  async close(): Promise<void> {
    if (this.state === 'closed') return;
    this.state = 'closed';
    clearInterval(this.ticking);
    this.markStarted();
    const ended = new Promise<void>((resolve) => this.client.once('end', () => resolve()));
    this.client.disconnect();
    // Between two connection attempts there is nothing to close, and no event is emitted.
    const patience = new AbortController();
    const over = pause(2 * DISCONNECT_MS, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([ended, over]);
    patience.abort();
  }

  private async by<T>(count: (store: RateLimitStore) => Promise<T>): Promise<T> {
    if (this.state === 'shared') {
      try {
        return await withTimeout(ANSWER_MS, count(this.redis));
      } catch (error) {
        this.leave(error);
      }
    }
    return count(this.local);
  }

  private enter(): void {
    if (this.state === 'closed' || this.state === 'shared') return;
    clearInterval(this.ticking);
    this.connectionError = undefined;
    this.logger.log(
      this.state === 'starting'
        ? 'Rate limits are counted in Redis, shared with the other instances'
        : 'Redis is back: rate limits are shared with the other instances again',
    );
    this.change('shared');
  }

  private leave(error: unknown): void {
    if (this.state === 'closed' || this.state === 'local') return;
    const isStart = this.state === 'starting';
    this.change('local');
    const why = reason(error);
    this.warn(why);
    this.isExplained = !isStart || why !== UNKNOWN;
    this.keepProbing();
  }

  /** The reason may be known only after it was given up: a TLS handshake can take longer than the start waits. */
  private explain(error: unknown): void {
    const known = reason(error);
    if (this.state !== 'local' || this.isExplained || known === UNKNOWN) return;
    this.warn(known);
    this.isExplained = true;
  }

  private warn(why: string): void {
    this.logger.warn(
      `Redis is unavailable (${why}): until it is back, this instance counts rate limits on its own`,
    );
  }

  private change(state: 'shared' | 'local'): void {
    this.state = state;
    this.markStarted();
    this.onStateChange(state === 'shared');
  }

  private keepProbing(): void {
    clearInterval(this.ticking);
    // oxlint-disable-next-line no-restricted-globals -- watches a connection: works nothing off
    this.ticking = setInterval(() => this.tick(), PROBE_EVERY_MS);
    // Watching Redis must not keep the process alive.
    this.ticking.unref();
  }

  private tick(): void {
    const now = performance.now();
    if (this.state === 'starting' && now - this.startedAt > START_MS) this.leave(this.connectionError);
    if (this.probingSince === undefined) void this.probe();
    else if (now - this.probingSince > GIVE_UP_CONNECTION_MS) this.client.disconnect(true);
  }

  /** One probe at a time, because unanswered probes would pile up. */
  private async probe(): Promise<void> {
    if (this.probingSince !== undefined || this.state === 'shared' || this.state === 'closed') return;
    this.probingSince = performance.now();
    const { errors } = this;
    try {
      await this.countSomething();
      // A server with anonymous access counts even after it has rejected our user; that rejection arrives in the same turn.
      await nextTurn();
      if (this.errors > errors) return;
      if (performance.now() - this.probingSince <= PROBE_ANSWER_MS) this.enter();
    } catch (error) {
      this.connectionError ??= error;
    } finally {
      this.probingSince = undefined;
    }
  }

  /**
   * PING also works on a full or read-only Redis, and a full one still writes to existing keys. So the probe counts with new
   * keys.
   */
  private async countSomething(): Promise<void> {
    const probes = Array.from({ length: this.client.isCluster ? PROBES_OF_A_CLUSTER : 1 }, () =>
      this.redis.consume(`probe:${randomUUID()}`, 1, 1),
    );
    await Promise.all(probes);
  }
}

const REFUSALS: Record<string, string> = {
  WRONGPASS: 'it rejected the user or password of REDIS_URL',
  NOAUTH: 'it requires a password, and REDIS_URL has none',
  NOPERM: 'the user of REDIS_URL lacks permissions',
};

const UNKNOWN = 'the connection ended';

/** The cause in our own words or as a code, because the original text could quote the address. */
function reason(error: unknown): string {
  if (error instanceof TimeoutError) return error.message;
  // A cluster wraps the errors of all its servers in one.
  const { lastNodeError = error } = (error ?? {}) as { lastNodeError?: unknown };
  const { code, message } = (lastNodeError ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return code;
  // Redis's own errors start with a code: WRONGPASS, NOPERM, OOM, READONLY, LOADING.
  const refusal = /^[A-Z]{3,20}\b/.exec(String(message))?.[0];
  if (refusal === undefined) return UNKNOWN;
  const meaning = REFUSALS[refusal];
  return meaning ? `${refusal}: ${meaning}` : refusal;
}

/** The configured store: Redis with local counters as a fallback, or only local counters. */
export function createRateLimitStore(settings: Settings): RateLimitStore {
  if (settings.redisUrl === undefined) return new MemoryRateLimitStore();
  return new SharedRateLimitStore(settings.redisUrl, {
    logger: new Logger('RateLimits'),
    onStateChange: (shared) => sharedStoreGauge().set(shared ? 1 : 0),
  });
}

/** Lets the store check whether Redis is available before the first request, and closes its connections at shutdown. */
@Injectable()
export class RateLimitStoreLifecycle implements OnModuleInit, OnApplicationShutdown {
  constructor(@Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore) {}

  async onModuleInit(): Promise<void> {
    if (this.store instanceof SharedRateLimitStore) await this.store.ready();
  }

  async onApplicationShutdown(): Promise<void> {
    if (this.store instanceof SharedRateLimitStore) await this.store.close();
  }
}

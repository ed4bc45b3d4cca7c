import { Logger, type LoggerService } from '@nestjs/common';
import type { Cluster, Redis } from 'ioredis';
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { answerWithin, NoAnswerError } from './answer-within.js';
import { MemoryRateLimitStore } from './memory-rate-limit-store.js';
import { checkRate, checkWindow, type RateLimitDecision, type RateLimitStore } from './rate-limit-store.js';
import { connectRedis, DISCONNECT_MS } from './redis-connection.js';
import { RedisRateLimitStore } from './redis-rate-limit-store.js';

/** A request waits this long for Redis at most, in milliseconds. */
const ANSWER_MS = 100;
const PROBE_EVERY_MS = 250;
// Half of what a request may wait, so that a Redis just at the edge does not come and go all the time.
const PROBE_ANSWER_MS = 50;
// A connection that lost its other side without a word would else be waited on for minutes.
const GIVE_UP_CONNECTION_MS = 2_000;
const START_MS = 1_000;
// Enough keys to come to every server of a cluster, of which one may be away.
const PROBES_OF_A_CLUSTER = 16;

export interface SharedRateLimitStoreOptions {
  logger?: Pick<LoggerService, 'log' | 'warn'>;
  /** Told whenever counting begins to be shared between the instances (true) or to be each one's own (false). */
  onStateChange?: (shared: boolean) => void;
  /** Counts while Redis is away. */
  local?: RateLimitStore;
}

/**
 * Counts in Redis, and while that is away in this process: from the first request that has no answer within 100 ms
 * none waits for it any more; it is tried in the background, and used again once it counts promptly.
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

  constructor(url: string, options: SharedRateLimitStoreOptions = {}) {
    this.logger = options.logger ?? new Logger('RateLimits');
    this.onStateChange = options.onStateChange ?? (() => undefined);
    this.local = options.local ?? new MemoryRateLimitStore();
    this.client = connectRedis(url);
    this.redis = new RedisRateLimitStore(this.client);
    this.client.on('error', (error: unknown) => (this.connectionError = error));
    this.client.on('close', () => this.leave(this.connectionError));
    this.client.on('ready', () => {
      this.connectionError = undefined;
      void this.probe();
    });
    this.keepProbing();
  }

  /** Whether requests are counted in Redis now. */
  get shared(): boolean {
    return this.state === 'shared';
  }

  /** Resolves once it is known whether Redis is there: within about a second, whatever the answer. */
  ready(): Promise<void> {
    return this.started;
  }

  async consume(key: string, limit: number, windowMs: number): Promise<RateLimitDecision> {
    checkRate(limit, windowMs);
    return this.by((store) => store.consume(key, limit, windowMs));
  }

  async giveBack(key: string, windowMs: number): Promise<void> {
    checkWindow(windowMs);
    return this.by((store) => store.giveBack(key, windowMs));
  }

  async clear(key: string): Promise<void> {
    // What was counted here during an outage must not come back in the next one.
    await this.local.clear(key);
    await this.by((store) => store.clear(key));
  }

  /** Ends the connection and everything that runs in the background; what is asked after is counted here. */
  async close(): Promise<void> {
    if (this.state === 'closed') return;
    this.state = 'closed';
    clearInterval(this.ticking);
    this.markStarted();
    const ended = new Promise<void>((resolve) => this.client.once('end', () => resolve()));
    this.client.disconnect();
    // Between two attempts there is nothing to end, and no word of it.
    const patience = new AbortController();
    const over = pause(2 * DISCONNECT_MS, undefined, { signal: patience.signal }).catch(() => undefined);
    await Promise.race([ended, over]);
    patience.abort();
  }

  private async by<T>(count: (store: RateLimitStore) => Promise<T>): Promise<T> {
    if (this.state === 'shared') {
      try {
        return await answerWithin(ANSWER_MS, count(this.redis));
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
    this.logger.warn(
      `Redis is away (${reason(error)}): until it is back, rate limits are counted by this instance alone`,
    );
    this.change('local');
    this.keepProbing();
  }

  private change(state: 'shared' | 'local'): void {
    this.state = state;
    this.markStarted();
    this.onStateChange(state === 'shared');
  }

  private keepProbing(): void {
    clearInterval(this.ticking);
    this.ticking = setInterval(() => this.tick(), PROBE_EVERY_MS);
    // To look after Redis alone is no reason for the process to live on.
    this.ticking.unref();
  }

  private tick(): void {
    const now = performance.now();
    if (this.state === 'starting' && now - this.startedAt > START_MS) this.leave(this.connectionError);
    if (this.probingSince === undefined) void this.probe();
    else if (now - this.probingSince > GIVE_UP_CONNECTION_MS) this.client.disconnect(true);
  }

  /** One at a time, since those that a hanging Redis does not answer would heap up. */
  private async probe(): Promise<void> {
    if (this.probingSince !== undefined || this.state === 'shared' || this.state === 'closed') return;
    this.probingSince = performance.now();
    try {
      await this.countSomething();
      if (performance.now() - this.probingSince <= PROBE_ANSWER_MS) this.enter();
    } catch (error) {
      this.connectionError ??= error;
    } finally {
      this.probingSince = undefined;
    }
  }

  /** A Redis that is full or only a copy answers a ping too, and a full one still writes to a key that is there. */
  private async countSomething(): Promise<void> {
    const probes = Array.from({ length: this.client.isCluster ? PROBES_OF_A_CLUSTER : 1 }, () =>
      this.redis.consume(`probe:${randomUUID()}`, 1, 1),
    );
    await Promise.all(probes);
  }
}

/** What went wrong in a few words that come from us or are a code: the whole text might quote the address. */
function reason(error: unknown): string {
  if (error instanceof NoAnswerError) return error.message;
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  if (typeof code === 'string') return code;
  // Redis's own refusals begin with a code: WRONGPASS, NOPERM, OOM, READONLY, LOADING.
  return /^[A-Z]{3,20}\b/.exec(String(message))?.[0] ?? 'the connection ended';
}

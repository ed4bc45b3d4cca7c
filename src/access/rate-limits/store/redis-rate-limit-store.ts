import type { Cluster, Redis } from 'ioredis';
import { checkRate, checkWindow, type RateLimitDecision, type RateLimitStore } from './rate-limit-store.js';
import { CONSUME, GIVE_BACK, USED } from './redis-scripts.js';
import { storageKey } from './storage-key.js';

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

import { Inject, Injectable, Logger, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { Settings } from '#platform/config/settings.js';
import { MemoryRateLimitStore } from './memory-rate-limit-store.js';
import type { RateLimitStore } from './rate-limit-store.js';
import { sharedStoreGauge } from '../rate-limit-metrics.js';
import { SharedRateLimitStore } from './shared-rate-limit-store.js';
import { RATE_LIMIT_STORE } from './store-token.js';

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

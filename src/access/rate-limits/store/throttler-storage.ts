import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { RateLimitsService, retryAfterSeconds } from '../rate-limits.service.js';

type Record = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/**
 * The throttler's storage: the counters of this service, which every instance shares. They know no block duration: a caller is
 * served again as soon as a place in the window becomes free.
 */
@Injectable()
export class RateLimitThrottlerStorage implements ThrottlerStorage {
  constructor(private readonly limits: RateLimitsService) {}

  async increment(key: string, ttl: number, limit: number): Promise<Record> {
    const decision = await this.limits.consumeForPartner(key, limit, ttl);
    const seconds = retryAfterSeconds(decision);
    return {
      totalHits: limit - decision.remaining,
      timeToExpire: seconds,
      isBlocked: !decision.allowed,
      timeToBlockExpire: seconds,
    };
  }
}

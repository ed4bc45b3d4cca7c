import { Injectable } from '@nestjs/common';
import type { ThrottlerStorage } from '@nestjs/throttler';
import { RateLimitsService } from './rate-limits.service.js';

type Record = Awaited<ReturnType<ThrottlerStorage['increment']>>;

/** The key that the partner guard passes through the throttler: client and user, as JSON. */
export const partnerKey = (clientId: string, userId: string | undefined): string =>
  JSON.stringify([clientId, userId ?? null]);

/**
 * The throttler's storage on top of our own counters, because its own blocking would refuse callers that have waited long enough.
 */
@Injectable()
export class RateLimitThrottlerStorage implements ThrottlerStorage {
  constructor(private readonly limits: RateLimitsService) {}

  async increment(key: string, _ttl: number, limit: number): Promise<Record> {
    const [clientId, userId] = JSON.parse(key) as [string, string | null];
    const decision = await this.limits.consumeForPartner(clientId, userId ?? undefined, limit);
    const seconds = Math.max(1, Math.ceil(decision.retryAfterMs / 1000));
    return {
      totalHits: limit - decision.remaining,
      timeToExpire: seconds,
      isBlocked: !decision.allowed,
      timeToBlockExpire: seconds,
    };
  }
}

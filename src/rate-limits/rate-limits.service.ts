import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { Settings } from '../config/settings.js';
import { ActivityService } from '../activity/activity.service.js';
import { rateLimitExceeded } from '../http/problem.js';
import { countDecision } from './rate-limit-metrics.js';
import { addressKey } from './address-key.js';
import type { RateLimitDecision, RateLimitStore } from './rate-limit-store.js';
import { RATE_LIMIT_STORE } from './store-token.js';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
// Contract §14: an address may send ten times as much as a client, for many may share one.
const ADDRESS_FACTOR = 10;
const REMEMBERED_REFUSALS = 100_000;

interface Refusal {
  limit: number;
  /** Milliseconds of the process's own clock. */
  until: number;
}

/** The limits of contract §7 over the shared counters. A refusal is remembered here until it ends, so that a flood costs no round trip. */
@Injectable()
export class RateLimitsService {
  private readonly refusals = new LRUCache<string, Refusal>({ max: REMEMBERED_REFUSALS });

  constructor(
    @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore,
    private readonly settings: Settings,
    private readonly activity: ActivityService,
  ) {}

  /** Counts a bearer request of this client and user (for client credentials: of the client) in a rolling hour. */
  consumeForPartner(clientId: string, userId: string | undefined, limit: number): Promise<RateLimitDecision> {
    return this.consume(`partner:${clientId}:${userId ?? ''}`, limit, HOUR_MS);
  }

  /** Counts a request of an authenticated client to `/o/*`; throws a 429 problem over the limit. */
  async countClient(clientId: string): Promise<void> {
    const decision = await this.consume(`client:${clientId}`, this.settings.oauthRateLimit, MINUTE_MS);
    if (!decision.allowed) this.activity.count({ kind: 'rate_limited', detail: 'oauth', clientId });
    refuseUnless(decision);
  }

  /** Counts a request of nobody in particular for its address; throws a 429 problem over the limit. */
  async countAddress(address: string): Promise<void> {
    const decision = await this.consume(addressKey(address), this.addressLimit, MINUTE_MS);
    if (!decision.allowed) this.activity.count({ kind: 'rate_limited', detail: 'address', address });
    refuseUnless(decision);
  }

  private get addressLimit(): number {
    return this.settings.oauthRateLimit * ADDRESS_FACTOR;
  }

  private async consume(key: string, limit: number, windowMs: number): Promise<RateLimitDecision> {
    const decision = this.refusalOf(key, limit) ?? (await this.ask(key, limit, windowMs));
    countDecision(key.slice(0, key.indexOf(':')), decision.allowed);
    return decision;
  }

  private async ask(key: string, limit: number, windowMs: number): Promise<RateLimitDecision> {
    const decision = await this.store.consume(key, limit, windowMs);
    if (!decision.allowed)
      this.refusals.set(key, { limit, until: performance.now() + decision.retryAfterMs });
    return decision;
  }

  /** A refusal that still holds; with another limit than now it says nothing. */
  private refusalOf(key: string, limit: number): RateLimitDecision | undefined {
    const refusal = this.refusals.get(key);
    const retryAfterMs = (refusal?.until ?? 0) - performance.now();
    if (!refusal || refusal.limit !== limit || retryAfterMs <= 0) return undefined;
    return { allowed: false, remaining: 0, retryAfterMs };
  }
}

/** Seconds, rounded up: who waits this long is served. */
export const retryAfterSeconds = ({ retryAfterMs }: RateLimitDecision): number =>
  Math.max(1, Math.ceil(retryAfterMs / 1000));

function refuseUnless(decision: RateLimitDecision): void {
  if (decision.allowed) return;
  const seconds = retryAfterSeconds(decision);
  throw rateLimitExceeded(`Too many requests. Please try again in ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds) },
  });
}

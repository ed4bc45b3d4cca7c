import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { upTo } from '#platform/config/cache-capacity.js';
import { HOUR_MS } from '#platform/config/durations.js';
import { Settings } from '#platform/config/settings.js';
import type { EventClient } from '#records/activity/activity.js';
import { ActivityService } from '#records/activity/activity.service.js';
import type { AddressLimits } from '#platform/http/guards/address-rate-limit.guard.js';
import type { SessionHolder } from '#platform/http/guards/session-limits.js';
import { rateLimitExceeded } from '#platform/http/problems/problem.js';
import { countDecision } from './rate-limit-metrics.js';
import { addressKey } from '#platform/http/server/address-key.js';
import { partnerKey } from './partners/partner-limit.js';
import { type RateLimitDecision, type RateLimitStore, RATE_LIMIT_STORE } from './store/rate-limit-store.js';
import { AddressRefusals, type AddressRefusal } from './address-refusals.js';
import { said, say } from '#platform/language/text.js';
import { waitingTime, waitingValues } from './waiting-time.js';

const MINUTE_MS = 60_000;
// Contract §14: an address may send ten times as much as a client, because several clients may share it.
const ADDRESS_FACTOR = 10;
/** Limits of the portal: more than a person would click, too few to flood a receiver. */
export const PORTAL_SENDINGS_PER_MINUTE = 60;
export const PORTAL_RECOVERIES_PER_MINUTE = 6;
const CACHED_REFUSALS = 100_000;

interface Refusal {
  limit: number;
  /** Milliseconds of the process's monotonic clock. */
  until: number;
}

type Refusals = LRUCache<string, Refusal>;

/**
 * The limits of contract §7, based on the shared counters. A refusal is cached until it ends, so that a flood causes no round
 * trips and callers over their limit are refused before anything is looked up.
 */
@Injectable()
export class RateLimitsService implements AddressLimits, OnModuleInit {
  private readonly partners: Refusals = new LRUCache(upTo(CACHED_REFUSALS));
  private readonly clients: Refusals = new LRUCache(upTo(CACHED_REFUSALS));
  private readonly addresses: Refusals = new LRUCache(upTo(CACHED_REFUSALS));
  private readonly sessions: Refusals = new LRUCache(upTo(CACHED_REFUSALS));

  constructor(
    @Inject(RATE_LIMIT_STORE) private readonly store: RateLimitStore,
    private readonly settings: Settings,
    private readonly activity: ActivityService,
    private readonly announcements: AddressRefusals,
  ) {}

  onModuleInit(): void {
    this.announcements.listen((refusal) => remember(this.addresses, refusal));
  }

  /** Whether a partner was refused recently; if not, the check can be skipped. */
  get hasRefusedPartners(): boolean {
    return this.partners.size > 0;
  }

  /** Counts a bearer request under its `partnerKey`. */
  consumeForPartner(key: string, limit: number, windowMs: number): Promise<RateLimitDecision> {
    return this.consume(this.partners, key, limit, windowMs);
  }

  /** The limit of a client without a user, and how many requests remain now. Counts nothing. */
  async stateOfPartner(client: {
    id: string;
    rateLimit: number | null;
  }): Promise<{ limit: number; remaining: number }> {
    const limit = client.rateLimit ?? this.settings.rateLimit;
    const used = await this.store.used(partnerKey(client.id), HOUR_MS);
    return { limit, remaining: Math.max(0, limit - used) };
  }

  /**
   * Counts a read that is allowed even though the limit is exceeded (contract §8), up to the same limit again. A refused read
   * waits until either limit allows a request.
   */
  async consumeReadOverLimit(
    clientId: string,
    userId: string | undefined,
    limit: number,
  ): Promise<RateLimitDecision> {
    const decision = await this.consume(this.partners, readKey(clientId, userId), limit, HOUR_MS);
    return decision.allowed ? decision : this.sooner(clientId, userId, limit, decision);
  }

  /**
   * The refusal of a client and user that this instance knows to be over their limit (for a read: over the limit of reads too),
   * without asking the store. Undefined if the request has to be counted.
   */
  refusalOfPartner(
    clientId: string,
    userId: string | undefined,
    limit: number,
    isRead: boolean,
  ): RateLimitDecision | undefined {
    const refusal = this.refusalOf(this.partners, partnerKey(clientId, userId), limit);
    if (!refusal || !isRead) return refusal;
    const ofRead = this.refusalOf(this.partners, readKey(clientId, userId), limit);
    return ofRead && this.sooner(clientId, userId, limit, ofRead);
  }

  /** Counts a request of an authenticated client to `/o/*`; throws a 429 problem over the limit. */
  async countClient(request: FastifyRequest, client: EventClient): Promise<void> {
    request.isCounted = true;
    const key = `client:${client.id}`;
    const decision = await this.consume(this.clients, key, this.settings.oauthRateLimit, MINUTE_MS);
    if (!decision.allowed) this.activity.count({ kind: 'rate_limited', detail: 'oauth', client, request });
    refuseUnless(decision);
  }

  /** Counts a request for the holder of its session; throws a 429 problem over the limit. */
  async countSessions(request: FastifyRequest, holder: SessionHolder): Promise<void> {
    request.isCounted = true;
    const limit = this.settings.sessionRateLimit;
    const decision = await this.consume(this.sessions, `session:${holder}`, limit, MINUTE_MS);
    if (!decision.allowed) this.activity.count({ kind: 'rate_limited', detail: 'session', request });
    refuseUnless(decision);
  }

  /** Counts a request without an authenticated client for its address; throws a 429 problem over the limit. */
  async countAddress(request: FastifyRequest): Promise<void> {
    request.isCounted = true;
    const decision = await this.consume(this.addresses, addressKey(request.ip), this.addressLimit, MINUTE_MS);
    this.refuseAddress(request, decision);
  }

  /**
   * Throws a 429 problem if this instance already knows that the address is over its limit. Counts nothing and does not query the
   * store.
   */
  refuseOverLimit(request: FastifyRequest): void {
    if (this.addresses.size === 0) return;
    const refusal = this.refusalOf(this.addresses, addressKey(request.ip), this.addressLimit);
    if (!refusal) return;
    countDecision('address', false);
    this.refuseAddress(request, refusal);
  }

  private refuseAddress(request: FastifyRequest, decision: RateLimitDecision): void {
    if (!decision.allowed) this.activity.count({ kind: 'rate_limited', detail: 'address', request });
    refuseUnless(decision);
  }

  /** Counts a test or a resend requested in the portal; throws a 429 problem over the limit. */
  countPortalSending(client: EventClient): Promise<void> {
    return this.countPortal('sending', client, PORTAL_SENDINGS_PER_MINUTE, 'tests and resends');
  }

  /** The same for a recovery, which resends many deliveries. */
  countPortalRecovery(client: EventClient): Promise<void> {
    return this.countPortal('recovery', client, PORTAL_RECOVERIES_PER_MINUTE, 'recoveries');
  }

  private async countPortal(
    what: string,
    client: EventClient,
    limit: number,
    requests: string,
  ): Promise<void> {
    const decision = await this.consume(this.clients, `portal-${what}:${client.id}`, limit, MINUTE_MS);
    if (decision.allowed) return;
    this.activity.count({ kind: 'rate_limited', detail: 'portal', client });
    const seconds = retryAfterSeconds(decision);
    throw rateLimitExceeded(
      `A client can request at most ${limit} ${requests} per minute. Nothing was sent. Please try again in ${waitingTime(Math.max(60, seconds))}.`,
      { headers: { 'retry-after': String(seconds) } },
    );
  }

  private get addressLimit(): number {
    return this.settings.oauthRateLimit * ADDRESS_FACTOR;
  }

  /** Returns the refusal that ends first: a caller that waits that long is served. */
  private sooner(
    clientId: string,
    userId: string | undefined,
    limit: number,
    other: RateLimitDecision,
  ): RateLimitDecision {
    const refusal = this.refusalOf(this.partners, partnerKey(clientId, userId), limit);
    return refusal && refusal.retryAfterMs < other.retryAfterMs ? refusal : other;
  }

  private async consume(
    refusals: Refusals,
    key: string,
    limit: number,
    windowMs: number,
  ): Promise<RateLimitDecision> {
    const decision = this.refusalOf(refusals, key, limit) ?? (await this.ask(refusals, key, limit, windowMs));
    countDecision(key.slice(0, key.indexOf(':')), decision.allowed);
    return decision;
  }

  private async ask(
    refusals: Refusals,
    key: string,
    limit: number,
    windowMs: number,
  ): Promise<RateLimitDecision> {
    const decision = await this.store.consume(key, limit, windowMs);
    if (decision.allowed) return decision;
    const refusal = { key, limit, retryAfterMs: decision.retryAfterMs };
    remember(refusals, refusal);
    // Only address limits apply before credentials are checked.
    if (refusals === this.addresses) this.announcements.announce(refusal);
    return decision;
  }

  /** A cached refusal that still applies; one for another limit does not. */
  private refusalOf(refusals: Refusals, key: string, limit: number): RateLimitDecision | undefined {
    const refusal = refusals.get(key);
    if (!refusal) return undefined;
    const retryAfterMs = refusal.until - performance.now();
    if (retryAfterMs > 0 && refusal.limit === limit) return { allowed: false, remaining: 0, retryAfterMs };
    refusals.delete(key);
    return undefined;
  }
}

const remember = (refusals: Refusals, { key, limit, retryAfterMs }: AddressRefusal): void =>
  void refusals.set(key, { limit, until: performance.now() + retryAfterMs });

const readKey = (clientId: string, userId = ''): string => `partner-read:${clientId}:${userId}`;

/** Seconds, rounded up: a caller that waits this long is served. */
export const retryAfterSeconds = ({ retryAfterMs }: RateLimitDecision): number =>
  Math.max(1, Math.ceil(retryAfterMs / 1000));

function refuseUnless(decision: RateLimitDecision): void {
  if (decision.allowed) return;
  const seconds = retryAfterSeconds(decision);
  throw rateLimitExceeded(`Too many requests. Please try again in ${waitingTime(seconds)}.`, {
    headers: { 'retry-after': String(seconds) },
    said: said(
      say(
        'Too many requests. Please try again in {unit, select, second {{count, plural, one {# second} other {# seconds}}} other {{count, plural, one {# minute} other {# minutes}}}}.',
      ),
      waitingValues(seconds),
    ),
  });
}

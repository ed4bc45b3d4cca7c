import { Inject, Injectable, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import {
  getOptionsToken,
  getStorageToken,
  ThrottlerGuard,
  type ThrottlerLimitDetail,
  type ThrottlerModuleOptions,
  type ThrottlerRequest,
  type ThrottlerStorage,
} from '@nestjs/throttler';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActivityService } from '#records/activity/activity.service.js';
import { principalIn } from '#access/tokens/access/current-principal.decorator.js';
import { PartnersOverLimit } from './partners-over-limit.service.js';
import { RateLimitsService, retryAfterSeconds } from '../rate-limits.service.js';

type Target = Parameters<Reflector['get']>[1];

/** Reads what a decorator says of a route or class once, because it never changes: the throttler's guard asks twelve times for each request. */
class RememberedReflector extends Reflector {
  private readonly known = new Map<Target, Map<unknown, unknown>>();

  override get<Result, Key>(key: Key, target: Target): Result {
    let values = this.known.get(target);
    if (!values) this.known.set(target, (values = new Map<unknown, unknown>()));
    if (!values.has(key)) values.set(key, super.get(key, target));
    return values.get(key) as Result;
  }
}

// A client with less than a fifth of its limit left is near its limit.
const NEAR = 0.2;

/**
 * The throttler's guard with the limit of partners' bearer endpoints (`partner-limit.ts`). It counts the request (by
 * `store/throttler-storage.ts`); `KnownPartnerLimitGuard` has already refused callers that this instance knows to be over the limit. While the limit is
 * exceeded, the resources that a 429 refers to can still be read, up to the same limit again (contract §8).
 */
@Injectable()
export class PartnerRateLimitGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) storage: ThrottlerStorage,
    private readonly limits: RateLimitsService,
    private readonly overLimit: PartnersOverLimit,
    private readonly activity: ActivityService,
  ) {
    super(options, storage, new RememberedReflector());
  }

  protected override async handleRequest(properties: ThrottlerRequest): Promise<boolean> {
    const { context, limit } = properties;
    const http = context.switchToHttp();
    http.getRequest<FastifyRequest>().isCounted = true;
    const isAllowed = await super.handleRequest(properties);
    // The throttler sets the end of its window in this header, but a rolling window has no end.
    const reply = http.getResponse<FastifyReply>();
    reply.removeHeader('x-ratelimit-reset');
    const remaining = Number(reply.getHeader('x-ratelimit-remaining'));
    if (remaining < limit * NEAR) {
      this.activity.count({
        kind: 'rate_limit_near',
        detail: 'partner',
        client: principalIn(context).client,
      });
    }
    return isAllowed;
  }

  /** Throws, except for a read that is still allowed, whose response says that nothing of the limit remains. */
  protected override async throwThrottlingException(
    context: ExecutionContext,
    { limit, timeToBlockExpire }: ThrottlerLimitDetail,
  ): Promise<void> {
    const principal = principalIn(context);
    if (!this.overLimit.isRead(context, principal)) {
      return this.overLimit.refuse(context, principal, limit, timeToBlockExpire);
    }
    const read = await this.limits.consumeReadOverLimit(principal.client.id, principal.userId, limit);
    if (!read.allowed) return this.overLimit.refuse(context, principal, limit, retryAfterSeconds(read));
    // The throttler has already set it for a refusal.
    context.switchToHttp().getResponse<FastifyReply>().removeHeader('retry-after');
  }
}

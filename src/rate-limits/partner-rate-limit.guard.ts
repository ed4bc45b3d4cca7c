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
import { ActivityService } from '../activity/activity.service.js';
import { Settings } from '../config/settings.js';
import { rateLimitExceeded } from '../http/problem.js';
import type { Principal } from '../tokens/principal.js';
import { RateLimitNoticesService } from './rate-limit-notices.service.js';
import { partnerKey } from './throttler-storage.js';

// A client with less than a fifth of its limit left is near it.
const NEAR = 0.2;

/**
 * The limit of partners' bearer endpoints (contract §7): for each pair of client and user, the client's own where it has
 * one. A refusal is a 429 problem with all members of source specification §2.3. Runs after the bearer guard.
 */
@Injectable()
export class PartnerRateLimitGuard extends ThrottlerGuard {
  constructor(
    @Inject(getOptionsToken()) options: ThrottlerModuleOptions,
    @Inject(getStorageToken()) storage: ThrottlerStorage,
    reflector: Reflector,
    private readonly settings: Settings,
    private readonly notices: RateLimitNoticesService,
    private readonly activity: ActivityService,
  ) {
    super(options, storage, reflector);
  }

  protected override async handleRequest(properties: ThrottlerRequest): Promise<boolean> {
    const principal = principalOf(properties.context);
    const limit = principal.client.rateLimit ?? this.settings.rateLimit;
    const isAllowed = await super.handleRequest({
      ...properties,
      limit,
      getTracker: () => Promise.resolve(''),
      generateKey: () => partnerKey(principal.client.id, principal.userId),
    });
    // The throttler's word on when its window ends: a rolling one never does.
    const reply = properties.context.switchToHttp().getResponse<FastifyReply>();
    reply.removeHeader('x-ratelimit-reset');
    const remaining = Number(reply.getHeader('x-ratelimit-remaining'));
    if (remaining < limit * NEAR) {
      this.activity.count({ kind: 'rate_limit_near', detail: 'partner', clientId: principal.client.id });
    }
    return isAllowed;
  }

  protected override async throwThrottlingException(
    context: ExecutionContext,
    { limit, timeToBlockExpire }: ThrottlerLimitDetail,
  ): Promise<void> {
    const principal = principalOf(context);
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    void reply.headers({ 'x-ratelimit-limit': String(limit), 'x-ratelimit-remaining': '0' });
    const userId = principal.userId ?? principal.client.ownerId;
    this.activity.count({
      kind: 'rate_limited',
      detail: 'partner',
      clientId: principal.client.id,
      address: context.switchToHttp().getRequest<FastifyRequest>().ip,
    });
    throw rateLimitExceeded(
      `The limit of ${limit} requests an hour is reached. Please try again in ${timeToBlockExpire} seconds.`,
      {
        headers: { 'retry-after': String(timeToBlockExpire) },
        instance: `${this.settings.baseUrl}/v2/users/${userId}`,
        notification: await this.notices.noticeFor(principal.client.id, userId, limit),
      },
    );
  }
}

const principalOf = (context: ExecutionContext): Principal =>
  context.switchToHttp().getRequest<FastifyRequest>().principal!;

import { Injectable, SetMetadata, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ActivityService } from '#records/activity/activity.service.js';
import { Settings } from '#platform/config/settings.js';
import { isForeignKeyViolation } from '#platform/database/queries/database-errors.js';
import { rateLimitExceeded } from '#platform/http/problems/problem.js';
import { invalidToken } from '#access/tokens/access/bearer.guard.js';
import type { Principal } from '#access/tokens/access/principal.js';
import { partnerLimitOf } from './partner-limit.js';
import { notificationView } from '#records/notifications/notification.view.js';
import { RateLimitNotificationsService } from './rate-limit-notifications.service.js';
import { waitingTime } from '../waiting-time.js';

/** Whether a request reads a resource that a 429 refers to. */
export type ReadOverLimit = (request: FastifyRequest, principal: Principal) => boolean;

const READ_OVER_LIMIT = 'read over the limit';

/** Declares which requests of a route are answered even though the limit is exceeded (contract §8). */
export const AllowReadOverLimit = (isRead: ReadOverLimit) => SetMetadata(READ_OVER_LIMIT, isRead);

/** Answers partners who are over their limit: the 429 with its notification, or a read that is still allowed (contract §7, §8). */
@Injectable()
export class PartnersOverLimit {
  constructor(
    private readonly reflector: Reflector,
    private readonly settings: Settings,
    private readonly notifications: RateLimitNotificationsService,
    private readonly activity: ActivityService,
  ) {}

  /** Requests per hour: the client's own limit if it has one. */
  limitOf(principal: Principal): number {
    return partnerLimitOf(principal, this.settings);
  }

  /** Whether the request may be answered even though the limit is exceeded. */
  isRead(context: ExecutionContext, principal: Principal): boolean {
    const isRead = this.reflector.get<ReadOverLimit | undefined>(READ_OVER_LIMIT, context.getHandler());
    return isRead?.(context.switchToHttp().getRequest<FastifyRequest>(), principal) ?? false;
  }

  /** Throws the 429 problem with all members of source specification §2.3. */
  async refuse(
    context: ExecutionContext,
    principal: Principal,
    limit: number,
    retryAfter: number,
  ): Promise<never> {
    const { client } = principal;
    const reply = context.switchToHttp().getResponse<FastifyReply>();
    void reply.headers({ 'x-ratelimit-limit': String(limit), 'x-ratelimit-remaining': '0' });
    const userId = principal.userId ?? client.ownerId;
    const notification = await this.notifications
      .notificationFor(client, userId, limit)
      .catch((error: unknown) => {
        // The client or the user was deleted, and this instance does not know yet.
        throw isForeignKeyViolation(error) ? invalidToken('token_unknown', principal) : error;
      });
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    request.refusedClientId = client.id;
    this.activity.count({
      kind: 'rate_limited',
      detail: request.sandboxFault === undefined ? 'partner' : 'sandbox_fault',
      client,
      request,
    });
    throw rateLimitExceeded(
      `The limit of ${limit} requests per hour is reached. Please try again in ${waitingTime(retryAfter)}.`,
      {
        headers: { 'retry-after': String(retryAfter) },
        instance: `${this.settings.baseUrl}/v2/users/${userId}`,
        notification:
          notification && ((language) => notificationView(notification, this.settings.baseUrl, language)),
      },
    );
  }
}

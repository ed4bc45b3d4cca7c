import { Injectable, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ActivityService } from '#records/activity/activity.service.js';
import { AccessTokensService } from '#access/tokens/access/access-tokens.service.js';
import { BearerGuard, BearerStrategy } from '#access/tokens/access/bearer.guard.js';
import { DpopStrategy } from '#access/tokens/dpop/dpop.strategy.js';
import { RateLimitsService } from '../rate-limits.service.js';

/**
 * The bearer guard with the address limit (contract §7) before it: for an address over its limit, no token is checked. Requests
 * that it refuses count for the address, like every refusal that was not counted otherwise (`ProblemFilter`).
 */
@Injectable()
export class LimitedBearerGuard extends BearerGuard {
  constructor(
    strategy: BearerStrategy,
    dpop: DpopStrategy,
    accessTokens: AccessTokensService,
    activity: ActivityService,
    private readonly limits: RateLimitsService,
  ) {
    super(strategy, dpop, accessTokens, activity);
  }

  override canActivate(context: ExecutionContext): Promise<boolean> {
    this.limits.refuseOverLimit(context.switchToHttp().getRequest<FastifyRequest>());
    return super.canActivate(context) as Promise<boolean>;
  }
}

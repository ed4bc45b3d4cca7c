import { Injectable, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../http/problem.js';
import { BearerGuard } from '../tokens/bearer.guard.js';
import { RateLimitsService } from './rate-limits.service.js';

/**
 * The bearer guard of partners' endpoints: a request without a valid token counts for its address (contract §7). Whoever
 * has one is not held up by what others do at the same address.
 */
@Injectable()
export class LimitedBearerGuard extends BearerGuard {
  constructor(private readonly limits: RateLimitsService) {
    super();
  }

  override async canActivate(context: ExecutionContext): Promise<boolean> {
    const { ip } = context.switchToHttp().getRequest<FastifyRequest>();
    try {
      return await super.canActivate(context);
    } catch (error) {
      if (error instanceof Problem && error.status < 500) await this.limits.countAddress(ip);
      throw error;
    }
  }
}

import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { RateLimitsService } from './rate-limits.service.js';

/** Counts every request for its address: what no client authenticates, such as pages (contract §7). */
@Injectable()
export class AddressRateLimitGuard implements CanActivate {
  constructor(private readonly limits: RateLimitsService) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.limits.countAddress(context.switchToHttp().getRequest<FastifyRequest>().ip);
    return true;
  }
}

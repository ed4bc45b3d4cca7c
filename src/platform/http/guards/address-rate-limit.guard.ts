import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether the request was already counted: for a client, a client and user, or its address. */
    isCounted?: boolean;
  }
}

/** The address limit (contract §7), as an interface for modules below the one that implements it. */
export abstract class AddressLimits {
  /**
   * Throws a 429 problem if this instance already knows that the address is over its limit. Counts nothing and does not query the
   * store.
   */
  abstract refuseOverLimit(request: FastifyRequest): void;
  /** Counts the request for its address; throws a 429 problem over the limit. */
  abstract countAddress(request: FastifyRequest): Promise<void>;
}

/**
 * Counts every request for its address before anything is looked up; for routes without client authentication, such as pages
 * (contract §7).
 */
@Injectable()
export class AddressRateLimitGuard implements CanActivate {
  constructor(private readonly limits: AddressLimits) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    await this.limits.countAddress(context.switchToHttp().getRequest<FastifyRequest>());
    return true;
  }
}

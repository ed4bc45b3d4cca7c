import {
  Injectable,
  mixin,
  type CanActivate,
  type ExecutionContext,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import { ModuleRef } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { Problem } from '../http/problem.js';
import { RateLimitsService } from '../rate-limits/rate-limits.service.js';

/**
 * Lets a request to an OAuth endpoint in: the guards in their order, and the limits of contract §7 around them. What ends
 * with an authenticated client counts for that client (unless the endpoint is not limited); everything else counts for
 * the address it came from, so that a stranger who sends a partner's client_id uses up nothing of the partner's, and one
 * at the same address does not hold the partner up.
 */
export function admission(
  guards: Type<CanActivate>[],
  { limitClients }: { limitClients: boolean },
): Type<CanActivate> {
  @Injectable()
  class AdmissionGuard implements CanActivate, OnModuleInit {
    private inside: CanActivate[] = [];

    constructor(
      private readonly limits: RateLimitsService,
      private readonly moduleRef: ModuleRef,
    ) {}

    onModuleInit(): void {
      this.inside = guards.map((guard) => this.moduleRef.get<CanActivate>(guard));
    }

    async canActivate(context: ExecutionContext): Promise<boolean> {
      const request = context.switchToHttp().getRequest<FastifyRequest>();
      try {
        for (const guard of this.inside) await guard.canActivate(context);
      } catch (error) {
        const refused = error instanceof Problem && error.status < 500;
        if (refused && !request.oauthClient) await this.limits.countAddress(request.ip);
        throw error;
      }
      const client = request.oauthClient;
      if (!limitClients || !client) return true;
      // A public client's id is all that it has, and anybody can send it.
      if (client.type === 'public') await this.limits.countAddress(request.ip);
      else await this.limits.countClient(client.id);
      return true;
    }
  }
  return mixin(AdmissionGuard);
}

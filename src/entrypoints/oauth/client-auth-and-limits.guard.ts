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
import { RateLimitsService } from '#access/rate-limits/rate-limits.service.js';

/**
 * Runs the guards of an OAuth endpoint in order, with the limits of contract §7 around them. A request that authenticates a
 * client counts for that client (unless the endpoint has no client limit). Every other request counts for its address, so that a
 * stranger who sends a partner's client_id cannot use up the partner's limit. Over the address limit no credentials are checked,
 * so that guessing secrets reveals nothing.
 */
export function clientAuthAndLimits(
  guards: Type<CanActivate>[],
  { limitClients }: { limitClients: boolean },
): Type<CanActivate> {
  @Injectable()
  class ClientAuthAndLimitsGuard implements CanActivate, OnModuleInit {
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
      this.limits.refuseOverLimit(request);
      // Requests that these guards refuse count for the address (`ProblemFilter`).
      for (const guard of this.inside) await guard.canActivate(context);
      const client = request.oauthClient;
      if (!limitClients || !client) return true;
      // A public client only has its id, which anyone can send.
      if (client.type === 'public') await this.limits.countAddress(request);
      else await this.limits.countClient(request, client);
      return true;
    }
  }
  return mixin(ClientAuthAndLimitsGuard);
}

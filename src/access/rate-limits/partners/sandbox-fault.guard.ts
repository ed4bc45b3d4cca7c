import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ActivityService } from '#records/activity/activity.service.js';
import { serviceUnavailable } from '#platform/http/problems/problem.js';
import type { RequestFault } from '#access/sandbox-faults/sandbox-fault.entity.js';
import { SandboxFaultsService } from '#access/sandbox-faults/sandbox-faults.service.js';
import { invalidToken } from '#access/tokens/access/bearer.guard.js';
import type { Principal } from '#access/tokens/access/principal.js';
import { principalIn } from '#access/tokens/access/current-principal.decorator.js';
import { PartnersOverLimit } from './partners-over-limit.service.js';

const NEVER_FAILS = 'never fails in a sandbox';
// A client that honours Retry-After is served soon.
const RETRY_AFTER_SECONDS = 5;

/** Exempts a route from sandbox faults: the routes that set them. */
export const NeverFails = (isTrue: boolean) => SetMetadata(NEVER_FAILS, isTrue);

/** Answers a request of a sandbox client with the fault that it has requested (contract §19). Runs after the bearer guard. */
@Injectable()
export class SandboxFaultGuard implements CanActivate {
  constructor(
    private readonly faults: SandboxFaultsService,
    private readonly overLimit: PartnersOverLimit,
    private readonly activity: ActivityService,
    private readonly reflector: Reflector,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const principal = principalIn(context);
    if (principal.client.environment === 'live') return true;
    if (this.reflector.get<boolean>(NEVER_FAILS, context.getHandler())) return true;
    return this.failIfAsked(context, principal);
  }

  private async failIfAsked(context: ExecutionContext, principal: Principal): Promise<boolean> {
    const fault = await this.faults.useForRequest(principal.client);
    if (fault === undefined) return true;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    request.sandboxFault = fault;
    return this.fail(fault, context, principal, request);
  }

  private fail(
    fault: RequestFault,
    context: ExecutionContext,
    principal: Principal,
    request: FastifyRequest,
  ): Promise<never> {
    switch (fault) {
      case '401':
        this.activity.count({
          kind: 'bearer_refused',
          detail: 'sandbox_fault',
          client: principal.client,
          request,
        });
        throw invalidToken('token_expired', principal);
      case '429':
        return this.overLimit.refuse(
          context,
          principal,
          this.overLimit.limitOf(principal),
          RETRY_AFTER_SECONDS,
        );
      case '503':
        throw serviceUnavailable('The service is temporarily unavailable. Please try again later.', {
          headers: { 'retry-after': String(RETRY_AFTER_SECONDS) },
        });
    }
  }
}

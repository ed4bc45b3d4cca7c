import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ActivityService } from '#records/activity/activity.service.js';
import { forbidden } from '#platform/http/problems/problem.js';
import { challengeFor } from './bearer.guard.js';

const SCOPES = 'required scopes';

/** The scopes that a token must have for this route, all of them. */
export const RequireScopes = (...scopes: string[]) => SetMetadata(SCOPES, scopes);

/** Refuses a token without the route's scopes with 403 (RFC 6750 §3.1 `insufficient_scope`). Runs after the bearer guard. */
@Injectable()
export class ScopesGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly activity: ActivityService,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const required =
      this.reflector.getAllAndOverride<string[] | undefined>(SCOPES, [
        context.getHandler(),
        context.getClass(),
      ]) ?? [];
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { principal } = request;
    if (required.every((scope) => principal?.scopes.includes(scope))) return true;
    this.activity.count({
      kind: 'bearer_refused',
      detail: 'scope_missing',
      client: principal?.client,
      request,
    });
    const scope = required.join(' ');
    throw forbidden(`This requires the scope ${scope}, which the access token does not have.`, {
      headers: {
        'www-authenticate': challengeFor(principal, `error="insufficient_scope", scope="${scope}"`),
      },
    });
  }
}

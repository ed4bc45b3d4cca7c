import {
  applyDecorators,
  UseGuards,
  Injectable,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { type OperatorRole, roleIncludes, roleNeeded } from '#platform/config/operator-role.js';
import { ApiEndpoint, ApiProblems } from '#platform/http/api/api-answers.js';
import { LimitedBearerGuard } from '#access/rate-limits/partners/limited-bearer.guard.js';
import { RequireScopes, ScopesGuard } from '#access/tokens/access/scopes.guard.js';
import { ActivityService } from '#records/activity/activity.service.js';
import { forbidden } from '#platform/http/problems/problem.js';
import { LeastRole, leastRoleOf } from '../least-role.js';

/**
 * Refuses a client whose role does not include the route (contract §17): that of the operator who owns it, or admin for a service of the
 * company. The role is in memory with the client, and a change of it is known like any other change of access. Runs after the guard of
 * the scopes.
 */
@Injectable()
class OperatorRoleGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly activity: ActivityService,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { client, userId } = request.principal!;
    // No user's token has the scopes of the admin API; a client is nobody's role but its own.
    const role = userId === undefined ? client.operatorRole : null;
    const least = leastRoleOf(this.reflector, context);
    if (roleIncludes(role, least)) return true;
    this.activity.count({ kind: 'bearer_refused', detail: 'role_missing', client, request });
    throw forbidden(
      role === null
        ? roleNeeded(least)
        : `${roleNeeded(least)} The owner of the client is an operator with the role ${role}.`,
    );
  }
}

/**
 * A controller of the admin API (contract §12): requires a token with `admin:write`, and JSON bodies. Read-only routes have
 * `@AdminRead()`, so that a forgotten decorator requires more, never less.
 */
export const AdminApi = () =>
  applyDecorators(
    UseGuards(LimitedBearerGuard, ScopesGuard, OperatorRoleGuard),
    RequireScopes('admin:write'),
    ApiTags('Admin'),
  );

/** A read-only route of the admin API: requires `admin:read` instead. Clients of every operator may use it. */
export const AdminRead = (operationId: string, summary: string, description: string) =>
  applyDecorators(
    RequireScopes('admin:read'),
    LeastRole('viewer'),
    described('admin:read', operationId, summary, description),
  );

/** A route of the admin API that changes something, and the least role of an operator whose client may use it (contract §17). */
export const AdminWrite = (
  operationId: string,
  summary: string,
  description: string,
  least: OperatorRole = 'admin',
) =>
  applyDecorators(
    LeastRole(least),
    described('admin:write', operationId, summary, description),
    ApiProblems(413, 415),
  );

const described = (scope: string, ...[operationId, summary, description]: Parameters<typeof ApiEndpoint>) =>
  applyDecorators(
    ApiEndpoint(operationId, summary, description),
    ApiSecurity('oauth2', [scope]),
    ApiProblems(400, 401, 403, 429, 500, 503),
  );

import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ActivityService } from '#records/activity/activity.service.js';
import { roleIncludes, roleNeeded } from '#platform/config/operator-role.js';
import { forbidden } from '#platform/http/problems/problem.js';
import { leastRoleOf } from '../least-role.js';

/**
 * Refuses a client whose role does not include the route (contract §17): that of the operator who owns it, or admin for a service of the
 * company. The role is in memory with the client, and a change of it is known like any other change of access. Runs after the guard of
 * the scopes.
 */
@Injectable()
export class OperatorRoleGuard implements CanActivate {
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

import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { ActivityService } from '../../activity/activity.service.js';
import { roleIncludes, roleNeeded } from '../../config/operator-role.js';
import { forbidden } from '../../http/problems/problem.js';
import { leastRoleOf } from '../least-role.js';

/**
 * Refuses the client of an operator whose role does not include the route (contract §17). The role is in memory with the client, and
 * a change of it is known like any other change of access. Runs after the guard of the scopes.
 */
@Injectable()
export class OperatorRoleGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly activity: ActivityService,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    const { principal, ip } = context.switchToHttp().getRequest<FastifyRequest>();
    const { id, ownerRole } = principal!.client;
    const least = leastRoleOf(this.reflector, context);
    if (ownerRole === null || roleIncludes(ownerRole, least)) return true;
    this.activity.count({ kind: 'bearer_refused', detail: 'role_missing', clientId: id, address: ip });
    throw forbidden(
      `${roleNeeded(least)} The owner of the client is an operator with the role ${ownerRole}.`,
    );
  }
}

import { SetMetadata, type ExecutionContext } from '@nestjs/common';
import type { Reflector } from '@nestjs/core';
import type { OperatorRole } from '#platform/config/operator-role.js';

const LEAST_ROLE = 'admin:least-role';

/** The least role of an operator for this route (contract §17). */
export const LeastRole = (role: OperatorRole) => SetMetadata(LEAST_ROLE, role);

/** The least role for the route; a route that declares none is for admins. */
export const leastRoleOf = (reflector: Reflector, context: ExecutionContext): OperatorRole =>
  reflector.get<OperatorRole | undefined>(LEAST_ROLE, context.getHandler()) ?? 'admin';

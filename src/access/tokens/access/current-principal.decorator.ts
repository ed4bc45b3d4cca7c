import { createParamDecorator, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { Actor } from '#records/audit/audit.service.js';
import { originOf } from '#platform/http/server/request-origin.js';
import type { Principal } from './principal.js';

/** The caller, for guards that run after the bearer guard. */
export const principalIn = (context: ExecutionContext): Principal =>
  context.switchToHttp().getRequest<FastifyRequest>().principal!;

/** The caller, after the bearer guard. */
export const CurrentPrincipal = createParamDecorator((_data: unknown, context: ExecutionContext): Principal =>
  principalIn(context),
);

/** The caller as recorded in the audit log, after the bearer guard. */
export const CurrentActor = createParamDecorator((_data: unknown, context: ExecutionContext): Actor => {
  const request = context.switchToHttp().getRequest<FastifyRequest>();
  const { client, userId } = request.principal!;
  return {
    ...(userId
      ? { type: 'user', id: userId }
      : {
          type: 'client',
          id: client.id,
          ownerId: client.ownerId,
          ...(client.operatorRole && { operatorRole: client.operatorRole }),
        }),
    ...originOf(request),
  };
});

import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { notFound } from '#platform/http/problems/problem.js';
import type { PortalContext } from '../frame/portal-context.js';

/** Admits the portal of a client in a sandbox; for others these pages do not exist. Runs after the portal's guard. */
@Injectable()
export class PortalSandboxGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const page = context.switchToHttp().getRequest<FastifyRequest>().pageContext as PortalContext;
    if (page.visitor.environment === 'sandbox') return true;
    throw notFound('There is nothing at this URL.');
  }
}

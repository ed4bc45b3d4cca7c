import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Cookies } from '../http/cookies.js';
import { CsrfService } from '../http/csrf.service.js';
import { Problem } from '../http/problem.js';
import { PortalAccessService } from './portal-access.service.js';
import { PortalVisit } from './portal-visit.js';

declare module 'fastify' {
  interface FastifyRequest {
    portalVisit?: PortalVisit;
  }
}

/** Lets in who has a live portal session (contract §6), before anything else of the request is looked at. */
@Injectable()
export class PortalSessionGuard implements CanActivate {
  constructor(
    private readonly access: PortalAccessService,
    private readonly csrf: CsrfService,
    private readonly cookies: Cookies,
  ) {}

  /** Throws a 401 problem where there is no session. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    const visitor = await this.access.visitor(request);
    if (!visitor) throw new Problem(401, 'Unauthorized', 'There is no portal session in this browser.');
    const reply = http.getResponse<FastifyReply>();
    request.portalVisit = new PortalVisit(visitor, request, reply, this.csrf, this.cookies);
    return true;
  }
}

import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressLimits } from '../http/address-rate-limit.guard.js';
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

/** Admits browsers with a live portal session (contract §6), before anything else of the request is evaluated. */
@Injectable()
export class PortalSessionGuard implements CanActivate {
  constructor(
    private readonly access: PortalAccessService,
    private readonly csrf: CsrfService,
    private readonly cookies: Cookies,
    private readonly limits: AddressLimits,
  ) {}

  /** Throws a 401 problem without a session. For addresses over their limit (contract §7), no session is looked up. */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    this.limits.refuseOverLimit(request);
    const visitor = await this.access.visitor(request);
    if (!visitor) throw new Problem(401, 'Unauthorized', 'There is no portal session in this browser.');
    const reply = http.getResponse<FastifyReply>();
    request.portalVisit = new PortalVisit(visitor, request, reply, this.csrf, this.cookies);
    return true;
  }
}

import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { AddressLimits } from '../http/guards/address-rate-limit.guard.js';
import { Cookies } from '../http/server/cookies.js';
import { CsrfService } from '../http/forms/csrf.service.js';
import { isPosted, refuseOddForm } from '../http/page-routes/posted-form.js';
import { Problem } from '../http/problems/problem.js';
import { DeliveriesService } from '../webhooks/deliveries/deliveries.service.js';
import { EndpointsService } from '../webhooks/endpoints/endpoints.service.js';
import { PortalAccessService } from './portal-access.service.js';
import { PortalContext } from './portal-context.js';

/** What the `:id` in the path of a form names. */
export type FormSubject = 'an endpoint' | 'a delivery' | 'nothing';

const FORM_SUBJECT = 'portal:form-subject';

export const FormIsAbout = (subject: FormSubject) => SetMetadata(FORM_SUBJECT, subject);

/**
 * Admits browsers with an active portal session (contract §6), before anything else of the request is evaluated, and forms that come
 * from the portal's pages. Every POST is checked here, so that no page can forget it.
 */
@Injectable()
export class PortalGuard implements CanActivate {
  constructor(
    private readonly access: PortalAccessService,
    private readonly endpoints: EndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly csrf: CsrfService,
    private readonly cookies: Cookies,
    private readonly reflector: Reflector,
    private readonly limits: AddressLimits,
  ) {}

  /**
   * Throws a 401 problem without a session; for a form about something that is not the client's, a 404 problem. For addresses over
   * their limit (contract §7), no session is looked up.
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    this.limits.refuseOverLimit(request);
    const visitor = await this.access.visitor(request);
    if (!visitor) throw new Problem(401, 'Unauthorized', 'There is no portal session in this browser.');
    const reply = http.getResponse<FastifyReply>();
    const page = new PortalContext(visitor, request, reply, this.csrf, this.cookies);
    request.pageContext = page;
    if (!isPosted(request)) return true;
    refuseOddForm(request);
    const subject = this.reflector.get<FormSubject | undefined>(FORM_SUBJECT, context.getHandler());
    const { id = '' } = request.params as { id?: string };
    if (subject === 'an endpoint') page.endpoint = await this.endpoints.get(id, visitor.clientId);
    if (subject === 'a delivery') await this.deliveries.get(id, visitor.clientId);
    page.checkForm();
    return true;
  }
}

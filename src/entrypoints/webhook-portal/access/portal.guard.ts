import { Injectable, SetMetadata, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyRequest } from 'fastify';
import { AddressLimits } from '#platform/http/guards/address-rate-limit.guard.js';
import { isPosted } from '#platform/http/forms/form.js';
import { refuseUnsafeText } from '#platform/http/validation/validation.pipe.js';
import { Problem, roleTooLow } from '#platform/http/problems/problem.js';
import { legible } from '#platform/http/validation/legible-text.js';
import { memberRoleIncludes, type MemberRole } from '#events/partners/members/member.js';
import { confirmPathFor } from '#access/users/factors/factor-paths.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { PortalAccessService } from './portal-access.service.js';
import { PORTAL_SIGN_IN_PATH } from '../frame/portal-layout.js';
import { PortalContext, PortalServices } from '../frame/portal-context.js';
import type { PortalVisitor } from './portal-visitor.js';
import { exchangeOf, redirectInstead } from '#platform/http/server/exchange.js';

/** What the `:id` in the path of a form names. */
export type FormSubject = 'an endpoint' | 'a delivery' | 'nothing';

const FORM_SUBJECT = 'portal:form-subject';

export const FormIsAbout = (subject: FormSubject) => SetMetadata(FORM_SUBJECT, subject);

const LEAST_ROLE = 'portal:least-role';

/** The least role of a member that may use a route. Without it, a route is for admins. */
export const LeastMemberRole = (least: MemberRole) => SetMetadata(LEAST_ROLE, least);

/**
 * Admits browsers with an active portal session (contract §6), before anything else in the request is evaluated, and forms that come
 * from the portal's pages. Every POST is checked here, so that no page can forget it.
 */
@Injectable()
export class PortalGuard implements CanActivate {
  constructor(
    private readonly access: PortalAccessService,
    private readonly endpoints: EndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly reflector: Reflector,
    private readonly limits: AddressLimits,
    private readonly services: PortalServices,
  ) {}

  /**
   * Throws a 401 problem without a session, and a 403 problem if the visitor's role is too low; a 404 problem for a form about
   * something that does not belong to the client. Redirects admins who have not authenticated recently to do so first, on every
   * route that is for admins (contract §20). For addresses over their limit (contract §7), no session is looked up.
   */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { request, reply } = exchangeOf(context);
    this.limits.refuseOverLimit(request);
    const visitor = await this.access.visitor(request);
    if (!visitor) throw new Problem(401, 'Unauthorized', 'There is no portal session in this browser.');
    const { factors } = this.services;
    const page = new PortalContext(visitor, this.services, request, reply);
    request.pageContext = page;
    const missingFactor = visitor.user && (await factors.leadingToFactor(visitor.user, PORTAL_SIGN_IN_PATH));
    if (missingFactor !== undefined) return redirectInstead(reply, missingFactor);
    const least = this.reflector.get<MemberRole | undefined>(LEAST_ROLE, context.getHandler()) ?? 'admin';
    if (!memberRoleIncludes(visitor.role, least)) throw refusalOf(visitor, least);
    if (isPosted(request)) await this.checkForm(context, page, request);
    if (least === 'admin' && (await page.adminState()) !== 'confirmed') {
      return redirectInstead(reply, confirmPathFor(isPosted(request) ? partOf(page.path) : page.url));
    }
    return true;
  }

  private async checkForm(
    context: ExecutionContext,
    page: PortalContext,
    request: FastifyRequest,
  ): Promise<void> {
    refuseUnsafeText(request.params);
    const subject = this.reflector.get<FormSubject | undefined>(FORM_SUBJECT, context.getHandler());
    const { id = '' } = request.params as { id?: string };
    if (subject === 'an endpoint') page.endpoint = await this.endpoints.get(id, page.clientId);
    if (subject === 'a delivery') await this.deliveries.get(id, page.clientId);
    page.checkForm();
  }
}

function refusalOf({ role, user, ownerName }: PortalVisitor, least: MemberRole): Problem {
  return roleTooLow(
    user
      ? `This requires the role ${least}. Your role is ${role}: an admin of ${legible(ownerName)} can change it.`
      : 'You came with a one-time link of the client. This is for a member of the organisation who is an admin and logs in with an account.',
  );
}

/** The page that a form belongs to: `/portal/members` of `/portal/members/:id/remove`. */
const partOf = (path: string): string => path.split('/').slice(0, 3).join('/');

import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import type { PageAnswer } from '#platform/http/page-routes/page-answer.js';
import { pageRoutes } from '#platform/http/page-routes/page-routes.js';
import { isPosted } from '#platform/http/forms/form.js';
import { refuseUnsafeText } from '#platform/http/validation/validation.pipe.js';
import { errorPage } from '#platform/http/problems/error-page.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import { SignedInUsers } from '#access/users/sessions/signed-in-users.service.js';
import { UserPageContext } from '#access/users/sessions/user-page-context.js';
import type { LayoutProps } from '#platform/web/layout/layout.js';
import { PORTAL_SIGN_IN_AREA, PORTAL_SIGN_IN_PATH } from '../frame/portal-layout.js';
import { exchangeOf, redirectInstead } from '#platform/http/server/exchange.js';

/** What a route of the portal's sign-in returns. */
export type PortalSignInAnswer = PageAnswer<LayoutProps>;

/** The request of a logged-in user who chooses a portal, after the guard. */
export class PortalSignInContext extends UserPageContext<LayoutProps> {
  constructor(
    readonly user: SignedInUser,
    request: FastifyRequest,
    reply: FastifyReply,
    csrf: CsrfService,
    cookies: Cookies,
  ) {
    super(
      { name: PORTAL_SIGN_IN_AREA, notices: {}, home: PORTAL_SIGN_IN_PATH },
      request,
      reply,
      csrf,
      cookies,
    );
  }

  layOut(page: LayoutProps): LayoutProps {
    return page;
  }
}

/**
 * Admits logged-in users, and forms that come from its pages; redirects everyone else to the login page. Operators who need a
 * second factor are redirected to it first (contract §16).
 */
@Injectable()
export class PortalSignInGuard implements CanActivate {
  constructor(
    private readonly users: SignedInUsers,
    private readonly factors: SecondFactorService,
    private readonly csrf: CsrfService,
    private readonly cookies: Cookies,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { request, reply } = exchangeOf(context);
    if (isPosted(request)) refuseUnsafeText(request.params);
    const user = await this.users.admit(request, reply, PORTAL_SIGN_IN_PATH);
    if (!user) return false;
    const missingFactor = await this.factors.leadingToFactor(user, PORTAL_SIGN_IN_PATH);
    if (missingFactor !== undefined) return redirectInstead(reply, missingFactor);
    const page = new PortalSignInContext(user, request, reply, this.csrf, this.cookies);
    request.pageContext = page;
    if (isPosted(request)) page.checkForm();
    return true;
  }
}

/** The decorators for the pages where members open a portal. */
export const {
  Pages: PortalSignInPages,
  PageGet: PortalSignInGet,
  PagePost: PortalSignInPost,
} = pageRoutes({ root: PORTAL_SIGN_IN_PATH.slice(1), guard: PortalSignInGuard, renderError: errorPage });

import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { AddressLimits } from '#platform/http/guards/address-rate-limit.guard.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import { errorPage } from '#platform/http/problems/error-page.js';
import { OpenContext } from '#platform/http/page-routes/open-pages.js';
import { pageRoutes } from '#platform/http/page-routes/page-routes.js';
import { formOf, isPosted } from '#platform/http/forms/form.js';
import { refuseUnsafeText } from '#platform/http/validation/validation.pipe.js';
import { PortalAccessService } from './portal-access.service.js';
import { portalBinding } from '../frame/portal-context.js';
import { exchangeOf } from '#platform/http/server/exchange.js';

const LOGOUT_PATH = '/portal/logout';

/**
 * Counts every request for its address, and checks the forms: that of a link is bound to the key in its path, logging out to the
 * session. Without a session there is nothing to end, and so nothing to check.
 */
@Injectable()
export class PortalEntryGuard implements CanActivate {
  constructor(
    private readonly access: PortalAccessService,
    private readonly csrf: CsrfService,
    private readonly cookies: Cookies,
    private readonly limits: AddressLimits,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { request, reply } = exchangeOf(context);
    await this.limits.countAddress(request);
    const page = new OpenContext(request, reply, this.csrf, this.cookies);
    request.pageContext = page;
    if (!isPosted(request)) return true;
    refuseUnsafeText(request.params);
    if (page.path !== LOGOUT_PATH) {
      page.checkForm();
      return true;
    }
    // The form to log out is on the pages of the portal, so it is bound to the session as all their forms.
    const visitor = await this.access.visitor(request);
    if (visitor) this.csrf.check(request, formOf(request), portalBinding(page.path, visitor));
    return true;
  }
}

/** The decorators for pages that work without a portal session: opening a link, and logging out. */
export const {
  Pages: PortalEntryPages,
  PageGet: PortalEntryGet,
  PagePost: PortalEntryPost,
} = pageRoutes({ root: 'portal', guard: PortalEntryGuard, renderError: errorPage });

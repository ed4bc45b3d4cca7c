import {
  Injectable,
  SetMetadata,
  type CanActivate,
  type ExecutionContext,
  applyDecorators,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { Settings } from '#platform/config/settings.js';
import { Cookies } from '#platform/http/server/cookies.js';
import { CsrfService } from '#platform/http/forms/csrf.service.js';
import { isPosted } from '#platform/http/forms/form.js';
import { refuseUnsafeText } from '#platform/http/validation/validation.pipe.js';
import { confirmPathFor, SECURITY_PATH } from '#access/users/factors/factor-paths.js';
import { SecondFactorService } from '#access/users/factors/second-factor.service.js';
import { ShownOnce } from '#access/users/sessions/shown-once.service.js';
import { SignedInUsers } from '#access/users/sessions/signed-in-users.service.js';
import { AccountContext } from './account-context.js';
import { exchangeOf, redirectInstead } from '#platform/http/server/exchange.js';
import { safeReturnTo } from '#platform/http/forms/return-to.js';
import { driverErrorPage } from '#platform/http/problems/error-page.js';
import { pageRoutes } from '#platform/http/page-routes/page-routes.js';

const ASKS_TO_CONFIRM = 'account:asks-to-confirm';

/**
 * For a page or form that changes how its user logs in, hands out the user’s data or deletes the account: asks the user to log in again if
 * the login was more than 15 minutes ago.
 */
export const AsksToConfirm = () => SetMetadata(ASKS_TO_CONFIRM, true);

/** A path that the page may lead to: of the account, the console or the webhook portal. */
export function confirmedPathIn(returnTo: string | undefined): string {
  const path = safeReturnTo(returnTo);
  return path && /^\/(account|admin\/console|portal|o\/authorize)(\/|\?|$)/.test(path) ? path : SECURITY_PATH;
}

const PART_PATH = 'account:part-path';

/** The page to return to after a login that a form of this controller required: that of the whole part, such as “Security”. */
const PartPath = (path: string) => SetMetadata(PART_PATH, path);

/**
 * Admits logged-in users to their account, and forms that come from its pages; everyone else is redirected to the login page. Every
 * POST is checked here, so that no page can forget it; so is recent authentication, if the route asks for it.
 */
@Injectable()
export class AccountGuard implements CanActivate {
  constructor(
    private readonly users: SignedInUsers,
    private readonly csrf: CsrfService,
    private readonly cookies: Cookies,
    private readonly shownOnce: ShownOnce,
    private readonly factors: SecondFactorService,
    private readonly reflector: Reflector,
    private readonly settings: Settings,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { request, reply } = exchangeOf(context);
    if (isPosted(request)) refuseUnsafeText(request.params);
    const returnTo = isPosted(request)
      ? this.reflector.get<string>(PART_PATH, context.getClass())
      : request.url;
    const user = await this.users.admit(request, reply, returnTo);
    if (!user) return false;
    const { shownOnce, csrf, cookies, settings } = this;
    const page = new AccountContext(user, shownOnce, settings.passwordSignIn, request, reply, csrf, cookies);
    request.pageContext = page;
    if (isPosted(request)) page.checkForm();
    const asks = this.reflector.get<boolean | undefined>(ASKS_TO_CONFIRM, context.getHandler());
    if (asks && !(await this.factors.mayChange(user)))
      return redirectInstead(reply, confirmPathFor(page.path));
    return true;
  }
}

const routes = pageRoutes({ root: 'account', guard: AccountGuard, renderError: driverErrorPage });

/** A controller of the account: only for logged-in users, with every form checked; its routes return an `AccountAnswer`. */
export const AccountPages = (part = '') =>
  applyDecorators(routes.Pages(part), PartPath(part ? `/account/${part.split('/', 1)[0]!}` : '/account'));

/** A page of the account. */
export const AccountGet = routes.PageGet;

/** A form action of the account. */
export const AccountPost = routes.PagePost;

import { applyDecorators } from '@nestjs/common';
import { driverErrorPage } from '#platform/http/problems/error-page.js';
import { pageRoutes } from '#platform/http/page-routes/page-routes.js';
import { AccountGuard, PartPath } from './account.guard.js';

const routes = pageRoutes({ root: 'account', guard: AccountGuard, renderError: driverErrorPage });

/** A controller of the account: only for logged-in users, with every form checked; its routes return an `AccountAnswer`. */
export const AccountPages = (part = '') =>
  applyDecorators(routes.Pages(part), PartPath(part ? `/account/${part.split('/', 1)[0]!}` : '/account'));

/** A page of the account. */
export const AccountGet = routes.PageGet;

/** A form action of the account. */
export const AccountPost = routes.PagePost;

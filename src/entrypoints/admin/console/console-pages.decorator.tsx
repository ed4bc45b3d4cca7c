import { applyDecorators } from '@nestjs/common';
import type { OperatorRole } from '#platform/config/operator-role.js';
import { pageRoutes } from '#platform/http/page-routes/page-routes.js';
import { LeastRole } from '../least-role.js';
import { CONSOLE_PATH, ConsoleContext } from './console-context.js';
import { noteRoute, placeRoutes } from './console-routes.js';
import { ConsoleGuard } from './console.guard.js';
import { PasswordIs, type PasswordRule } from './password-rule.js';
import type { FastifyRequest } from 'fastify';
import { errorPage, headingOf } from '#platform/http/problems/error-page.js';
import { pageHeaders } from '#platform/http/page-routes/page-headers.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { renderPage } from '#platform/web/layout/layout.js';
import type { Problem } from '#platform/http/problems/problem.js';
import { detailWithReasons } from '#platform/http/problems/render-problem.js';
import type { Rendered } from '#platform/http/server/route-options.js';

/** An error as a page of the console for operators; for anybody else, the usual error page. */
function consoleErrorPage(problem: Problem, request: FastifyRequest): Rendered {
  const context = request.pageContext;
  if (!(context instanceof ConsoleContext)) return errorPage(problem, request);
  const page = context.layOut({
    title: headingOf(problem),
    children: (
      <>
        <p class="lead">{detailWithReasons(problem)}</p>
        <p class="muted">
          If you report this, include the request ID <code class="id">{request.id}</code>.
        </p>
        <p class="buttons">
          <LinkButton href="/admin/console">Go to the overview</LinkButton>
        </p>
      </>
    ),
  });
  const headers = pageHeaders({ withScript: !!page.scripts?.length });
  return { headers, body: renderPage(page, request.server.brand, context.tokenFor) };
}

const routes = pageRoutes({ root: CONSOLE_PATH, guard: ConsoleGuard, renderError: consoleErrorPage });

/** A controller of the console: only for operators, with every form checked; its routes return a `ConsoleAnswer`. */
export const ConsolePages = (path = '') =>
  applyDecorators(routes.Pages(path), ((controller: { prototype: object }) =>
    placeRoutes(controller.prototype, `${CONSOLE_PATH}/${path}`)) as ClassDecorator);

/**
 * A page of the console, whether the guard asks for the password before it, and the least role that may open it. The page of a form
 * that always asks declares `asked`: the form then asks only those who took too long. If only some changes ask, both declare
 * `asked in the form`.
 */
export const ConsoleGet = (
  path = '',
  password: Exclude<PasswordRule, 'asked on the page above'> = 'not asked',
  least: OperatorRole = 'admin',
) => routes.PageGet(path, PasswordIs(password), ...forRole('GET', path, least));

/** A form action of the console, whether the guard asks for the password first, and the least role that may use it. */
export const ConsolePost = (path: string, password: PasswordRule, least: OperatorRole = 'admin') =>
  routes.PagePost(path, PasswordIs(password), ...forRole('POST', path, least));

/** The same for a form with a file, which the handler finds by `context.file()`. */
export const ConsoleUpload = (path: string, password: PasswordRule, least: OperatorRole = 'admin') =>
  routes.PageUpload(path, PasswordIs(password), ...forRole('POST', path, least));

const forRole = (method: 'GET' | 'POST', path: string, least: OperatorRole): MethodDecorator[] => [
  LeastRole(least),
  (controller) => noteRoute(controller, { method, path, least }),
];

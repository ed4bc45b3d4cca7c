import type { FastifyRequest } from 'fastify';
import { errorPage, headingOf } from '#platform/http/problems/error-page.js';
import { pageHeaders } from '#platform/http/page-routes/page-headers.js';
import { LinkButton } from '#platform/web/forms/form.js';
import { renderPage } from '#platform/web/layout/layout.js';
import type { Problem } from '#platform/http/problems/problem.js';
import { detailWithReasons } from '#platform/http/problems/render-problem.js';
import type { Rendered } from '#platform/http/server/route-options.js';
import { ConsoleContext } from './console-context.js';

/** An error as a page of the console for operators; for anybody else, the usual error page. */
export function consoleErrorPage(problem: Problem, request: FastifyRequest): Rendered {
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

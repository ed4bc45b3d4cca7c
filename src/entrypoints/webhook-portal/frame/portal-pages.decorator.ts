import { applyDecorators } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { pageHeaders } from '#platform/http/page-routes/page-headers.js';
import { pageRoutes } from '#platform/http/page-routes/page-routes.js';
import { renderPage } from '#platform/web/layout/layout.js';
import { messagePage } from '#platform/web/layout/message.page.js';
import type { Problem } from '#platform/http/problems/problem.js';
import type { Rendered } from '#platform/http/server/route-options.js';
import type { MemberRole } from '#events/partners/members/member.js';
import { PORTAL_FOOTER } from './portal-layout.js';
import { portalSignedOutPage } from '../access/portal-signed-out.page.js';
import { FormIsAbout, LeastMemberRole, PortalGuard, type FormSubject } from '../access/portal.guard.js';
import { PORTAL_ROUTES } from './portal-routes.js';
import { apiWordsOf } from '#platform/http/problems/violation.js';

const HEADINGS: Record<number, string> = {
  400: 'This link or form does not work',
  404: 'Not found',
  409: 'This is not possible right now',
  413: 'Too much data',
  429: 'Please wait',
  500: 'Something went wrong',
  503: 'We will be back shortly',
};

const routes = pageRoutes({ root: 'portal', guard: PortalGuard, renderError: portalErrorPage });

/** A controller inside the portal: only with an active session, with every form checked; its routes return a `PortalAnswer`. */
export const PortalPages = (path = '') =>
  applyDecorators(routes.Pages(path), ((controller: { prototype: object }) =>
    PORTAL_ROUTES.place(controller.prototype, `portal/${path}`)) as ClassDecorator);

/** A page inside the portal, and the least role of a member that may open it. */
export const PortalGet = (path = '', least: MemberRole = 'admin') =>
  routes.PageGet(path, ...forRole('GET', path, least));

/**
 * A form action inside the portal, with what its `:id` names (the guard checks that it belongs to the client) and the least role
 * of a member that may use it. Actions for admins require recent authentication.
 */
export const PortalPost = (path: string, subject: FormSubject, least: MemberRole = 'admin') =>
  routes.PagePost(path, FormIsAbout(subject), ...forRole('POST', path, least));

const forRole = (method: 'GET' | 'POST', path: string, least: MemberRole): MethodDecorator[] => [
  LeastMemberRole(least),
  (controller) => PORTAL_ROUTES.note(controller, { method, path, least }),
];

function portalErrorPage(problem: Problem, request: FastifyRequest): Rendered {
  const { brand } = request.server;
  if (problem.status === 401) {
    return { headers: pageHeaders(), body: renderPage(portalSignedOutPage(), brand) };
  }
  const fieldErrors = Object.entries(apiWordsOf(problem.extras.violations ?? {})).map(
    ([name, errors]) => `“${name}” ${errors.join(', and ')}.`,
  );
  const page = messagePage({
    title: problem.title,
    heading: problem.extras.heading ?? HEADINGS[problem.status] ?? problem.title,
    text: [problem.detail, ...fieldErrors],
    action: { href: '/portal', label: 'Back to the webhook portal' },
    requestId: request.id,
    footer: PORTAL_FOOTER,
  });
  return { headers: pageHeaders(), body: renderPage(page, brand) };
}

import { applyDecorators, createParamDecorator, UseGuards, type ExecutionContext } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyRequest } from 'fastify';
import { pageHeaders } from '../http/page-headers.js';
import { messagePage } from '../http/pages/message.page.js';
import type { Problem } from '../http/problem.js';
import type { Rendered } from '../http/route-options.js';
import { PORTAL_FOOTER } from './pages/portal-layout.js';
import { portalSignedOutPage } from './pages/portal-signed-out.page.js';
import { PortalSessionGuard } from './portal-session.guard.js';
import type { PortalVisit } from './portal-visit.js';

const HEADINGS: Record<number, string> = {
  400: 'This link or form does not work',
  403: 'This form has expired',
  404: 'Not found',
  409: 'This is not possible right now',
  413: 'Too much data',
  429: 'Please wait',
  500: 'Something went wrong',
  503: 'We will be back shortly',
};

/** Marks a page inside the portal: without a live session it is the 401 page, and its errors are pages too. */
export const PortalPage = () =>
  applyDecorators(RouteConfig({ renderError: portalErrorPage }), UseGuards(PortalSessionGuard));

/** The visit of the request, on a `PortalPage` route. */
export const Visit = createParamDecorator(
  (_data: unknown, context: ExecutionContext): PortalVisit =>
    context.switchToHttp().getRequest<FastifyRequest>().portalVisit!,
);

function portalErrorPage(problem: Problem, request: FastifyRequest): Rendered {
  if (problem.status === 401) return { headers: pageHeaders(), body: portalSignedOutPage() };
  const fieldErrors = Object.entries(problem.extras.fieldErrors ?? {}).map(
    ([name, errors]) => `“${name}” ${errors.join(', and ')}.`,
  );
  const body = messagePage({
    title: problem.title,
    heading: HEADINGS[problem.status] ?? problem.title,
    text: [problem.detail, ...fieldErrors],
    action: { href: '/portal', label: 'Back to the webhook portal' },
    requestId: request.id,
    footer: PORTAL_FOOTER,
  });
  return { headers: pageHeaders(), body };
}

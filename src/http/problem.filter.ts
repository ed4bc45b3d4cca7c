import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '../config/settings.js';
import type { AllowedMethods } from './allowed-methods.js';
import { errorPage } from './error-page.js';
import { prefersHtml } from './negotiation.js';
import { methodNotAllowed, type Problem } from './problem.js';
import { renderProblem } from './render-problem.js';
import type { Rendered } from './route-options.js';
import { toProblem } from './to-problem.js';

/**
 * Renders every exception: as the route's own `renderError` says (OAuth endpoints, pages), else as
 * application/problem+json (RFC 9457, contract §1). What is unexpected is logged with the request id.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly settings: Settings,
    private readonly allowedMethods: AllowedMethods,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(exception, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /** The same for what the framework refuses outside of any controller. */
  answer(exception: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const problem = this.withMethods(exception, request);
    if (problem.status === 500) request.log.error({ err: exception }, 'unexpected error');
    if (problem.status === 503) request.log.warn({ err: exception }, 'not available');
    if (reply.sent) return;
    const rendered =
      request.routeOptions?.config?.renderError?.(problem, request) ?? this.render(problem, request);
    void reply
      .status(rendered.status ?? problem.status)
      .headers(problem.extras.headers ?? {})
      .headers(rendered.headers)
      .send(rendered.body);
  }

  /** The router's 404 becomes a 405 where the address exists for another method. */
  private withMethods(exception: unknown, request: FastifyRequest): Problem {
    const problem = toProblem(exception);
    const unrouted = exception instanceof HttpException && problem.status === 404;
    const allowed = unrouted ? this.allowedMethods.of(request.url) : [];
    if (allowed.length === 0) return problem;
    return methodNotAllowed(`This address does not take ${request.method}; it takes ${allowed.join(', ')}.`, {
      headers: { allow: allowed.join(', ') },
    });
  }

  private render(problem: Problem, request: FastifyRequest): Rendered {
    const unrouted = request.routeOptions?.url === undefined;
    if (unrouted && prefersHtml(request)) return errorPage(problem, request);
    return renderProblem(problem, this.settings.baseUrl);
  }
}

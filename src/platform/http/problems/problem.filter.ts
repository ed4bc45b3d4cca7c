import { Catch, HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Settings } from '#platform/config/settings.js';
import type { AddressLimits } from '../guards/address-rate-limit.guard.js';
import { said, say } from '#platform/language/text.js';
import { isDatabaseAway } from '#platform/database/queries/database-errors.js';
import { languageOfProgram, withVary } from '../server/request-language.js';
import { driverErrorPage } from './error-page.js';
import { prefersHtml } from '../server/negotiation.js';
import {
  methodNotAllowed,
  Problem,
  uploadTooLarge,
  badRequest,
  bodyTooLarge,
  internalError,
  notFound,
  serviceUnavailable,
  unsupportedMediaType,
} from './problem.js';
import { renderProblem } from './render-problem.js';
import type { Rendered, AllowedMethods } from '../server/route-options.js';

const RETRY_AFTER_SECONDS = '2';

/** Converts anything thrown into a problem. Unexpected errors become a 500 that reveals nothing internal. */
export function toProblem(exception: unknown): Problem {
  if (exception instanceof Problem) return exception;
  if (isDatabaseAway(exception)) {
    return serviceUnavailable(
      say('The service cannot reach its database at the moment. Please try again shortly.'),
      {
        headers: { 'retry-after': RETRY_AFTER_SECONDS },
      },
    );
  }
  return byStatus(statusOf(exception));
}

/** Errors of Fastify's parsers have a `statusCode`; Nest's exceptions have `getStatus()`. */
function statusOf(exception: unknown): number {
  if (exception instanceof HttpException) return exception.getStatus();
  const status = (exception as { statusCode?: unknown } | undefined)?.statusCode;
  return typeof status === 'number' ? status : 500;
}

function byStatus(status: number): Problem {
  switch (status) {
    case 404:
      return notFound(say('There is nothing at this URL.'));
    case 413:
      return bodyTooLarge();
    case 415:
      return unsupportedMediaType(say('This endpoint does not accept a body of this media type.'));
    case 503:
      return serviceUnavailable(say('The service is not ready. Please try again shortly.'), {
        headers: { 'retry-after': RETRY_AFTER_SECONDS },
      });
    default:
      return status >= 400 && status < 500
        ? badRequest(say('The request could not be read: its body, encoding or URL is malformed.'))
        : internalError(
            say(
              'An unexpected error occurred. Include the X-Request-Id of this response when you report it.',
            ),
          );
  }
}

// Malformed, not authenticated, not allowed, too large, wrong media type.
const COUNTED_STATUSES = new Set([400, 401, 403, 413, 415]);
/** Whether a refusal counts for the address: also that of an unknown address, or of its method. */
const counts = (status: number, { routeOptions }: FastifyRequest): boolean =>
  COUNTED_STATUSES.has(status) || (routeOptions?.url === undefined && (status === 404 || status === 405));

declare module 'fastify' {
  interface FastifyRequest {
    /** Why it was refused: an OAuth error code, or the slug of the problem. */
    errorCode?: string;
  }
}

/** An OAuth error has its code; 401 and 403 have no slug, but may have one in their challenge (RFC 6750 §3). */
function errorCodeOf(problem: Problem & { code?: string }): string | undefined {
  const challenge = problem.extras.headers?.['www-authenticate'];
  return problem.code ?? problem.slug ?? /\berror="(\w+)"/.exec(challenge ?? '')?.[1];
}

/**
 * Renders every exception: by the route's own `renderError` (OAuth endpoints, pages), otherwise as application/problem+json (RFC
 * 9457, contract §1). Unexpected errors are logged with the request id. A refusal that was not counted yet counts for the address
 * (contract §7): requests that no guard saw, or that an operator's token is not allowed to make.
 */
@Catch()
export class ProblemFilter implements ExceptionFilter {
  constructor(
    private readonly settings: Settings,
    private readonly allowedMethods: AllowedMethods,
    private readonly limits: AddressLimits,
  ) {}

  catch(exception: unknown, host: ArgumentsHost): void {
    const http = host.switchToHttp();
    this.answer(exception, http.getRequest<FastifyRequest>(), http.getResponse<FastifyReply>());
  }

  /** The same for requests that the framework refuses outside of any controller. */
  answer(exception: unknown, request: FastifyRequest, reply: FastifyReply): void {
    const problem = this.withMethods(exception, request);
    if (!counts(problem.status, request) || request.isCounted || isAnswered(reply)) {
      return this.send(exception, problem, request, reply);
    }
    this.limits.countAddress(request).then(
      () => this.send(exception, problem, request, reply),
      (refusal: unknown) => this.send(refusal, toProblem(refusal), request, reply),
    );
  }

  private send(exception: unknown, problem: Problem, request: FastifyRequest, reply: FastifyReply): void {
    if (problem.status === 500) request.log.error({ err: exception }, 'unexpected error');
    if (problem.status === 503) {
      // Problems that the service raises itself need no stack trace.
      if (exception instanceof Problem) request.log.warn(`service unavailable: ${problem.detail}`);
      else request.log.warn({ err: exception }, 'service unavailable');
    }
    if (isAnswered(reply)) return;
    request.errorCode = errorCodeOf(problem);
    const rendered =
      request.routeOptions?.config?.renderError?.(problem, request) ?? this.render(problem, request);
    void reply
      .status(rendered.status ?? problem.status)
      // What was set for the answer would let caches keep its refusal as long.
      .header('cache-control', 'no-store')
      .headers(problem.extras.headers ?? {})
      .headers(withVary(reply, rendered.headers))
      .send(rendered.body);
  }

  /** Turns the router's 404 into a 405 if the URL exists for another method. */
  private withMethods(exception: unknown, request: FastifyRequest): Problem {
    const found = toProblem(exception);
    const isUpload = found.status === 413 && request.routeOptions?.config?.takesUpload;
    const problem = isUpload ? uploadTooLarge() : found;
    const unrouted = exception instanceof HttpException && problem.status === 404;
    const allowed = unrouted ? this.allowedMethods.of(request.url) : [];
    if (allowed.length === 0) return problem;
    return methodNotAllowed(
      `This endpoint does not support ${request.method}; it supports ${allowed.join(', ')}.`,
      {
        headers: { allow: allowed.join(', ') },
        said: said('This address does not support {method}; it supports {methods}.', {
          method: request.method,
          methods: allowed.join(', '),
        }),
      },
    );
  }

  private render(problem: Problem, request: FastifyRequest): Rendered {
    const unrouted = request.routeOptions?.url === undefined;
    if (unrouted && prefersHtml(request)) return driverErrorPage(problem, request);
    return renderProblem(problem, this.settings.baseUrl, languageOfProgram(request));
  }
}

/** For example by a guard that redirected before it refused. */
const isAnswered = ({ sent, isHeld }: FastifyReply): boolean => sent || isHeld;

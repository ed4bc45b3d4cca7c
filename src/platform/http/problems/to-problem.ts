import { HttpException } from '@nestjs/common';
import { isDatabaseAway } from '#platform/database/queries/database-errors.js';
import {
  badRequest,
  bodyTooLarge,
  internalError,
  notFound,
  Problem,
  serviceUnavailable,
  unsupportedMediaType,
} from './problem.js';
import { say } from '#platform/language/text.js';

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

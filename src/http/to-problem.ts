import { HttpException } from '@nestjs/common';
import { isDatabaseAway } from '../database/database-errors.js';
import {
  badRequest,
  internalError,
  notFound,
  payloadTooLarge,
  Problem,
  serviceUnavailable,
  unsupportedMediaType,
} from './problem.js';

const RETRY_AFTER_SECONDS = '2';

/** Turns whatever was thrown into a problem; what is unexpected becomes a 500 that says nothing of the inside. */
export function toProblem(exception: unknown): Problem {
  if (exception instanceof Problem) return exception;
  if (isDatabaseAway(exception)) {
    return serviceUnavailable(
      'The service cannot reach its database at the moment. Please try again shortly.',
      {
        headers: { 'retry-after': RETRY_AFTER_SECONDS },
      },
    );
  }
  return byStatus(statusOf(exception));
}

/** Fastify puts `statusCode` on what its parsers refuse; Nest's exceptions have `getStatus()`. */
function statusOf(exception: unknown): number {
  if (exception instanceof HttpException) return exception.getStatus();
  const status = (exception as { statusCode?: unknown } | undefined)?.statusCode;
  return typeof status === 'number' ? status : 500;
}

function byStatus(status: number): Problem {
  switch (status) {
    case 404:
      return notFound('There is nothing at this address.');
    case 413:
      return payloadTooLarge('The body must not be larger than 64 kB.');
    case 415:
      return unsupportedMediaType('This endpoint does not read a body of this media type.');
    case 503:
      return serviceUnavailable('The service is not ready. Please try again shortly.', {
        headers: { 'retry-after': RETRY_AFTER_SECONDS },
      });
    default:
      return status >= 400 && status < 500
        ? badRequest('The request could not be read: its body, encoding or address is malformed.')
        : internalError(
            'Something went wrong. Please quote the X-Request-Id of this answer when you report it.',
          );
  }
}

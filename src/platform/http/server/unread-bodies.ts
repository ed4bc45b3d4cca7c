import type { FastifyRequest } from 'fastify';
import { say } from '#platform/language/text.js';
import { unsupportedMediaType, type Problem } from '../problems/problem.js';

/** Whether the body has a coding (RFC 9110 §8.4), which no route reads. */
export const isCompressed = ({ headers }: FastifyRequest): boolean =>
  (headers['content-encoding'] ?? 'identity').trim().toLowerCase() !== 'identity';

/**
 * Why the body is not read: a coding, or a media type that the route does not take. Judged before anything of it is read, so that what is
 * wrong with the body itself is only said of one that could have been right. Media types without a parser are refused by the framework.
 */
export function unreadBody(request: FastifyRequest): Problem | null {
  const { is404, method, headers, routeOptions } = request;
  const type = headers['content-type'];
  if (is404 || method === 'GET' || method === 'HEAD') return null;
  if (isCompressed(request)) {
    return unsupportedMediaType(say('The body is compressed. Send it without Content-Encoding.'), {
      headers: { 'accept-encoding': 'identity' },
    });
  }
  if (type === undefined) return null;
  const { takesForm, takesUpload, takesOneClick } = routeOptions.config ?? {};
  switch (type.split(';', 1)[0]!.trim().toLowerCase()) {
    case 'application/json':
      return takesForm ? unsupportedMediaType(FORM_ONLY) : null;
    case 'application/x-www-form-urlencoded':
      return takesForm ? null : unsupportedMediaType(JSON_ONLY);
    case 'multipart/form-data':
      return takesUpload || takesOneClick ? null : unsupportedMediaType(takesForm ? FORM_ONLY : JSON_ONLY);
    default:
      return null;
  }
}

const FORM_ONLY = say('This endpoint only accepts application/x-www-form-urlencoded.');
const JSON_ONLY = say('This endpoint only accepts application/json.');

import { said, say, type Said } from '#platform/language/text.js';
import type { Language } from '#platform/language/languages.js';
import { BODY_LIMIT } from '../server/body-limit.js';
import type { ProblemSlug } from './problem-kinds.js';
import type { Violations } from './violation.js';

export interface ProblemExtras {
  /** Response headers of the problem, such as `Allow` or `WWW-Authenticate`. */
  headers?: Record<string, string>;
  /** What is wrong with each member of the request. */
  violations?: Violations;
  /** URL of the resource concerned. */
  instance?: string;
  /** The heading of its page, if the status is not enough. */
  heading?: string;
  /** The detail as a message with values, for the page that drivers see. */
  said?: Said;
  /** A notification for the user concerned (source specification §2.4), in its wire format, in a language. */
  notification?: (language: Language) => object;
}

/**
 * An error as RFC 9457 problem details: status, title and detail, with a `type` for kinds that have a page. The detail is shown
 * to the caller, so it must not contain secrets.
 */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly title: string,
    readonly detail: string,
    readonly slug?: ProblemSlug,
    readonly extras: ProblemExtras = {},
  ) {
    super(detail);
  }
}

const kind =
  (status: number, title: string, slug: ProblemSlug) =>
  (detail: string, extras?: ProblemExtras): Problem =>
    new Problem(status, title, detail, slug, extras);

export const badRequest = kind(400, say('Bad request'), 'invalid-request');
export const unsupportedVersion = kind(400, say('Unsupported version'), 'unsupported-version');
export const notFound = kind(404, say('Not found'), 'not-found');
export const methodNotAllowed = kind(405, say('Method not allowed'), 'method-not-allowed');
export const notAcceptable = kind(406, say('Not acceptable'), 'not-acceptable');
export const conflict = kind(409, say('Conflict'), 'conflict');
const payloadTooLarge = kind(413, say('Content too large'), 'content-too-large');
export const bodyTooLarge = (): Problem =>
  payloadTooLarge(`The body must not be larger than ${BODY_LIMIT}.`, {
    said: said(say('The body must not be larger than {limit}.'), { limit: BODY_LIMIT }),
  });
export const uploadTooLarge = (): Problem => payloadTooLarge('The file must not be larger than 1 MB.');
export const unsupportedMediaType = kind(415, say('Unsupported media type'), 'unsupported-media-type');
export const unprocessableContent = kind(422, say('Unprocessable content'), 'unprocessable-content');
export const rateLimitExceeded = kind(429, say('Too many requests'), 'rate-limit-exceeded');
export const internalError = kind(500, say('Internal server error'), 'internal-error');
export const serviceUnavailable = kind(503, say('Service unavailable'), 'service-unavailable');

/** A request with invalid members: 400 with `field_errors`. */
export const validationFailed = (violations: Violations): Problem =>
  new Problem(
    400,
    say('Validation failed'),
    say('Some members of the request are invalid.'),
    'validation-failed',
    {
      violations,
    },
  );

/** 401 carries only status, title and detail; the challenge goes into the header. */
export const unauthorized = (
  detail: string,
  challenge: string,
  headers: Record<string, string> = {},
): Problem =>
  new Problem(401, say('Unauthorized'), detail, undefined, {
    headers: { 'www-authenticate': challenge, ...headers },
  });

/** 403 carries only status, title and detail. */
export const forbidden = (detail: string, extras?: ProblemExtras): Problem =>
  new Problem(403, say('Forbidden'), detail, undefined, extras);

/** A form without a valid token. */
export const formExpired = (detail: string): Problem =>
  forbidden(detail, { heading: say('This form has expired') });

/** An operator's role does not allow this (contract §17). */
export const roleTooLow = (detail: string): Problem =>
  forbidden(detail, { heading: 'Your role does not allow this' });

/** For a cursor that no line of the stream had. */
export const unknownCursor = () => badRequest('The cursor is not one of this log.');

/** For a cursor whose transaction this database has not reached. */
export const cursorAhead = () =>
  badRequest(
    'The cursor is ahead of this database, which was restored: begin without one, or with an earlier one.',
  );

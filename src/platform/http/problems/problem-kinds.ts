import { BODY_LIMIT } from '../server/body-limit.js';

/** The page at a problem's `type` URL. */
export interface ProblemKind {
  title: string;
  status: number;
  explanation: string;
  whatToDo: string;
}

/** Every problem type with a `type` URL, by slug. */
export const PROBLEM_KINDS = {
  'invalid-request': {
    title: 'Bad request',
    status: 400,
    explanation: 'The request could not be understood: its syntax, encoding or parameters are wrong.',
    whatToDo: 'Read "detail" in the response, correct the request and send it again.',
  },
  'validation-failed': {
    title: 'Validation failed',
    status: 400,
    explanation: 'The request was understood, but some of its members break a rule.',
    whatToDo:
      'Read "field_errors" in the response: it says what is wrong with each member. Correct them and send the request again.',
  },
  'unsupported-version': {
    title: 'Unsupported version',
    status: 400,
    explanation: 'The Service-Version request header asks for a version that this endpoint does not have.',
    whatToDo: 'Send "Service-Version: 2", or leave the header out.',
  },
  'not-found': {
    title: 'Not found',
    status: 404,
    explanation: 'There is nothing at this URL, or nothing that this caller may see.',
    whatToDo: 'Check the URL and the id. Resources of other users and clients get the same response.',
  },
  'method-not-allowed': {
    title: 'Method not allowed',
    status: 405,
    explanation: 'The URL exists, but does not support this HTTP method.',
    whatToDo:
      'Use one of the methods in the Allow response header. Token revocation needs its trailing slash.',
  },
  'not-acceptable': {
    title: 'Not acceptable',
    status: 406,
    explanation: 'The Accept request header asks for a media type that this endpoint does not provide.',
    whatToDo: 'Accept application/json or text/html.',
  },
  conflict: {
    title: 'Conflict',
    status: 409,
    explanation: 'The request conflicts with the current state of the resource.',
    whatToDo: 'Read "detail" in the response: it says what the conflict is.',
  },
  'content-too-large': {
    title: 'Content too large',
    status: 413,
    explanation: `The body of the request is larger than ${BODY_LIMIT}.`,
    whatToDo: 'Send a smaller body.',
  },
  'unsupported-media-type': {
    title: 'Unsupported media type',
    status: 415,
    explanation:
      'The body of the request has a media type that this endpoint does not accept, or is compressed.',
    whatToDo:
      'Send JSON with "Content-Type: application/json", or for OAuth endpoints and the forms of pages application/x-www-form-urlencoded. Do not compress it.',
  },
  'unprocessable-content': {
    title: 'Unprocessable content',
    status: 422,
    explanation:
      'The request contradicts an earlier one: its Idempotency-Key was already used with another body.',
    whatToDo:
      'Send each new event with a new key; retry a request with the same key and exactly the same body.',
  },
  'rate-limit-exceeded': {
    title: 'Too many requests',
    status: 429,
    explanation:
      'This client (for this user), or this network address, has sent more requests than its limit allows.',
    whatToDo:
      'Wait for as many seconds as the Retry-After response header says: the next request is then served. On the partner endpoints, X-RateLimit-Limit and X-RateLimit-Remaining in every response help to stay below the limit.',
  },
  'internal-error': {
    title: 'Internal server error',
    status: 500,
    explanation:
      'An unexpected error occurred in the service. It has been logged with the id of the request.',
    whatToDo: 'Try again later. If it persists, report the X-Request-Id of the response.',
  },
  'service-unavailable': {
    title: 'Service unavailable',
    status: 503,
    explanation:
      'The service cannot reach its database, or this instance is starting, stopping or being replaced by a newer one.',
    whatToDo: 'Wait for as many seconds as the Retry-After response header says, and send the request again.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemSlug = keyof typeof PROBLEM_KINDS;

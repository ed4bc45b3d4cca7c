/** What the page behind a problem's `type` URL says of its kind. */
export interface ProblemKind {
  title: string;
  status: number;
  explanation: string;
  whatToDo: string;
}

/** Every kind of problem with a `type` URL, by slug. */
export const PROBLEM_KINDS = {
  'invalid-request': {
    title: 'Bad request',
    status: 400,
    explanation: 'The request could not be understood: its syntax, encoding or parameters are wrong.',
    whatToDo: 'Read "detail" in the answer, correct the request and send it again.',
  },
  'validation-failed': {
    title: 'Validation failed',
    status: 400,
    explanation: 'The request was understood, but some of its members break a rule.',
    whatToDo:
      '"field_errors" names each member and says what is wrong with it. Correct them and send the request again.',
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
    explanation: 'There is nothing at this address, or nothing that this caller may see.',
    whatToDo: 'Check the address and the id. A resource of somebody else is answered in the same way.',
  },
  'method-not-allowed': {
    title: 'Method not allowed',
    status: 405,
    explanation: 'The address exists, but not for this HTTP method.',
    whatToDo:
      'Use one of the methods in the Allow response header. Token revocation needs its trailing slash.',
  },
  'not-acceptable': {
    title: 'Not acceptable',
    status: 406,
    explanation: 'The Accept request header asks for a media type that this address cannot give.',
    whatToDo: 'Accept application/json or text/html.',
  },
  conflict: {
    title: 'Conflict',
    status: 409,
    explanation: 'The request cannot be carried out in the present state of the resource.',
    whatToDo: 'Read "detail" in the answer: it says what stands in the way.',
  },
  'content-too-large': {
    title: 'Content too large',
    status: 413,
    explanation: 'The body of the request is larger than 64 kB.',
    whatToDo: 'Send a smaller body.',
  },
  'unsupported-media-type': {
    title: 'Unsupported media type',
    status: 415,
    explanation: 'The body of the request is of a media type that this endpoint does not read.',
    whatToDo:
      'Send JSON with "Content-Type: application/json"; the forms of pages send application/x-www-form-urlencoded.',
  },
  'unprocessable-content': {
    title: 'Unprocessable content',
    status: 422,
    explanation: 'The request contradicts an earlier one: its Idempotency-Key was used with another body.',
    whatToDo: 'Send each new event with a new key; repeat a request with its key and exactly its body.',
  },
  'rate-limit-exceeded': {
    title: 'Too many requests',
    status: 429,
    explanation:
      'This client (for this user), or this network address, has sent more requests than its limit allows.',
    whatToDo:
      'Wait for as many seconds as the Retry-After response header says: the next request is then served. X-RateLimit-Limit and X-RateLimit-Remaining on every answer help to stay below the limit.',
  },
  'internal-error': {
    title: 'Internal server error',
    status: 500,
    explanation: 'Something went wrong inside the service. It has been logged with the id of the request.',
    whatToDo: 'Try again later. If it stays, tell us the X-Request-Id of the answer.',
  },
  'service-unavailable': {
    title: 'Service unavailable',
    status: 503,
    explanation: 'The service cannot reach its database, or is shutting down.',
    whatToDo: 'Wait for as many seconds as the Retry-After response header says, and send the request again.',
  },
} as const satisfies Record<string, ProblemKind>;

export type ProblemSlug = keyof typeof PROBLEM_KINDS;

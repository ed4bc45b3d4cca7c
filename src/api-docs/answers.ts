import {
  listOf,
  ref,
  text,
  whole,
  type Answer,
  type Parameter,
  type Reference,
  type Schema,
} from './openapi.js';

const REQUEST_ID = {
  'X-Request-Id': {
    required: true,
    description: 'The value sent by the caller, if it is valid; otherwise a new one.',
    schema: text(),
  },
};
const NO_STORE = { 'Cache-Control': { required: true, schema: text(undefined, { enum: ['no-store'] }) } };
const RETRY_AFTER = {
  'Retry-After': { required: true, description: 'Seconds.', schema: whole() },
};
/** Headers of the bearer endpoints for partners (contract §6, §7). */
export const PARTNER_HEADERS = {
  'X-RateLimit-Limit': { required: true, description: 'Requests per hour.', schema: whole() },
  'X-RateLimit-Remaining': { required: true, schema: whole() },
  'Service-Version': { required: true, schema: text(undefined, { enum: ['2'] }) },
};
const LINK = {
  Link: {
    description: 'Absolute URLs of the neighbouring pages (RFC 8288): `rel="next"` and `rel="previous"`.',
    schema: text(),
  },
};

type Headers = Answer['headers'];

/** A JSON response. */
export const json = (
  description: string,
  schema: Schema,
  headers: Headers = {},
  example?: unknown,
): Answer => ({
  description,
  headers: { ...REQUEST_ID, ...headers },
  content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
});

/** A page of a list. */
export const list = (item: string, headers: Headers = {}): Answer =>
  json('A page of the list.', listOf(ref(item)), { ...LINK, ...headers });

/** A response that contains a secret, or must not be cached for another reason. */
export const secretJson = (description: string, schema: Schema, headers: Headers = {}): Answer =>
  json(description, schema, { ...NO_STORE, ...headers });

export const noContent = (description: string): Answer => ({ description, headers: REQUEST_ID });

const PROBLEM_WORDS: Record<number, string> = {
  400: 'The request is malformed, or a member breaks a rule (`field_errors`).',
  401: 'No valid credentials.',
  403: 'The credentials do not allow this.',
  404: 'There is no such resource, or nothing that this caller may see.',
  406: 'None of the requested media types is available.',
  409: 'The request conflicts with the current state.',
  413: 'The body is larger than 64 kB.',
  415: 'The media type of the body is not supported.',
  422: 'The Idempotency-Key was already used with another body.',
  429: 'Too many requests.',
  500: 'An unexpected error occurred.',
  503: 'The database is unavailable, or the service is stopping.',
};

const problem = (status: number, headers: Headers = {}): Answer => ({
  description: PROBLEM_WORDS[status]!,
  headers: {
    ...REQUEST_ID,
    ...(status === 401 ? { 'WWW-Authenticate': { required: true, schema: text() } } : {}),
    ...(status === 429 || status === 503 ? RETRY_AFTER : {}),
    ...headers,
  },
  content: {
    'application/problem+json': {
      schema: ref(status === 401 || status === 403 ? 'PlainProblem' : 'Problem'),
    },
  },
});

function oauthRefusal(status: number): Answer {
  return json(status === 400 ? 'Refused.' : PROBLEM_WORDS[status]!, ref('OAuthError'), {
    ...NO_STORE,
    Pragma: { required: true, schema: text() },
    ...(status === 401 ? { 'WWW-Authenticate': { required: true, schema: text() } } : {}),
  });
}

/** Responses shared by many operations, by name. */
export const SHARED_ANSWERS: Record<string, Answer> = {
  ...Object.fromEntries(
    Object.keys(PROBLEM_WORDS).map((status) => [`Problem${status}`, problem(Number(status))]),
  ),
  ...Object.fromEntries([400, 401, 403].map((status) => [`OAuth${status}`, oauthRefusal(status)])),
};

const shared = (kind: 'Problem' | 'OAuth', statuses: number[]): Record<string, Reference> =>
  Object.fromEntries(statuses.map((status) => [status, { $ref: `#/components/responses/${kind}${status}` }]));

/** Problems by status. */
export const problems = (...statuses: number[]): Record<string, Reference> => shared('Problem', statuses);

/** The errors of every bearer endpoint for partners. */
export const partnerProblems = (...more: number[]): Record<string, Reference> =>
  problems(400, 401, 403, ...more, 429, 500, 503);

/** The errors of every endpoint of the admin API. */
export const adminProblems = (...more: number[]): Record<string, Reference> =>
  problems(400, 401, 403, ...more, 429, 500, 503);

/** The errors of OAuth endpoints: 400, 401 and 403 as in RFC 6749 §5.2, the others as problems. */
export const oauthRefusals = (...statuses: number[]): Record<string, Reference> => ({
  ...shared('OAuth', statuses),
  ...problems(413, 429, 500, 503),
});

export const pathId = (name: string, schema: Schema): Parameter => ({
  name,
  in: 'path',
  required: true,
  schema,
});
export const query = (name: string, schema: Schema, description?: string): Parameter => ({
  name,
  in: 'query',
  schema,
  ...(description ? { description } : {}),
});

/** The parameters of every list (contract §1). */
export const PAGING: Parameter[] = [
  query('page_size', { type: 'integer', minimum: 1, maximum: 100, default: 25 }),
  query('page_after', text(), 'The id of the item before the page.'),
  query('page_before', text(), 'The id of the item after the page.'),
];

export const SERVICE_VERSION: Parameter = {
  name: 'Service-Version',
  in: 'header',
  description: 'Omitted, or 2.',
  schema: { type: 'number', const: 2 },
};

export const jsonBody = (schema: Schema, example?: unknown, required = true) => ({
  required,
  content: { 'application/json': { schema, ...(example === undefined ? {} : { example }) } },
});
export const formBody = (schema: Schema) => ({
  required: true,
  content: { 'application/x-www-form-urlencoded': { schema } },
});

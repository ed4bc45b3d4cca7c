import { applyDecorators, Header, HttpCode, Param, type Type } from '@nestjs/common';
import {
  ApiExtension,
  ApiExtraModels,
  ApiIncludeEndpoint,
  ApiOperation,
  ApiParam,
  ApiResponse,
  type ApiResponseOptions,
} from '@nestjs/swagger';
import type { IdPrefix } from '#platform/secrets/ids.js';
import { idOf, oneOf, text, whole } from './api-schemas.js';
import { BODY_LIMIT } from '../server/body-limit.js';
import { internalError, serviceUnavailable, type Problem } from '../problems/problem.js';
import { renderProblem } from '../problems/render-problem.js';
import { PlainProblemView, ProblemView } from '../problems/problem.view.js';

export type ApiHeaders = Record<string, { required?: boolean; description?: string; schema: object }>;

const REQUEST_ID: ApiHeaders = {
  'X-Request-Id': {
    required: true,
    description: 'The value sent by the caller, if it is valid; otherwise a new one.',
    schema: text(),
  },
};
/** The header of a response that must not be cached; it is then also sent. */
export const NOT_CACHED: ApiHeaders = { 'Cache-Control': { required: true, schema: oneOf('no-store') } };
const RETRY_AFTER: ApiHeaders = {
  'Retry-After': { required: true, description: 'Seconds.', schema: whole() },
};
const CHALLENGE: ApiHeaders = { 'WWW-Authenticate': { required: true, schema: text() } };
const LINK: ApiHeaders = {
  Link: {
    description: 'Absolute URLs of the neighbouring pages (RFC 8288): `rel="next"` and `rel="previous"`.',
    schema: text(),
  },
};

const PROBLEM_DESCRIPTIONS: Record<number, string> = {
  400: 'The request is malformed, or a member breaks a rule (`field_errors`).',
  401: 'No valid credentials.',
  403: 'The credentials do not allow this.',
  404: 'There is no such resource, or nothing that this caller may see.',
  409: 'The request conflicts with the current state.',
  413: `The body is larger than ${BODY_LIMIT}.`,
  415: 'The media type of the body is not supported.',
  422: 'The Idempotency-Key was already used with another body.',
  429: 'Too many requests.',
  500: 'An unexpected error occurred.',
  503: 'The database is unavailable, or this instance is starting, stopping or being replaced by a newer one.',
};

/** Names an operation of the API and includes it in the document; routes without it are not described. */
export const ApiEndpoint = (operationId: string, summary: string, description: string) =>
  applyDecorators(ApiIncludeEndpoint(), ApiOperation({ operationId, summary, description }));

/** Where the operation of a feature stands in the document: behind this one. */
export const ApiBehind = (operationId: string) => ApiExtension('x-behind', operationId);

/** The response of a route, with its status unless the route sets another one. If there are several, the first one counts. */
const answersWith = (
  response: ApiResponseOptions & { status: number; headers: ApiHeaders },
): MethodDecorator => {
  const described = ApiResponse(response);
  if (response.status >= 300) return described;
  const isCached = !('Cache-Control' in response.headers);
  return applyDecorators(
    HttpCode(response.status),
    ...(isCached ? [] : [Header('cache-control', 'no-store')]),
    described,
  );
};

type ContentObject = Record<string, { schema: object }>;

/** A JSON response: `[View]` is a list; pass a schema if it is not a class, or the content if there are several media types. */
export const ApiAnswer = (
  status: number,
  description: string,
  type: Type | [Type] | undefined,
  headers: ApiHeaders = {},
  schema?: object,
  content?: ContentObject,
): MethodDecorator =>
  answersWith({
    status,
    description,
    headers: { ...REQUEST_ID, ...headers },
    ...(content ? { content } : { type, schema }),
  });

/** A JSON response beside the route's own, whose status the route sets by itself. */
export const ApiOtherAnswer = (status: number, description: string, type: Type): MethodDecorator =>
  ApiResponse({ status, description, type, headers: REQUEST_ID });

/** A response that is text of another media type, with an example. */
export const ApiText = (
  status: number,
  description: string,
  mediaType: string,
  example: string,
): MethodDecorator =>
  ApiResponse({
    status,
    description,
    content: { [mediaType]: { schema: text() as object, example } },
    headers: { ...REQUEST_ID, ...NOT_CACHED },
  } as ApiResponseOptions);

/** A page of a list. */
export const ApiPage = (item: Type, headers: ApiHeaders = {}) =>
  ApiAnswer(200, 'A page of the list.', [item], { ...LINK, ...headers });

export const ApiNoContent = (description: string): MethodDecorator =>
  answersWith({ status: 204, description, headers: REQUEST_ID });

/** The problems that a route can answer with, by status. */
export const ApiProblems = (...statuses: number[]) =>
  applyDecorators(
    ApiExtraModels(ProblemView, PlainProblemView),
    ...statuses.map((status) =>
      ApiResponse({ status, $ref: `#/components/responses/Problem${status}` } as ApiResponseOptions),
    ),
  );

/** Describes a method by one of its parameters. */
const described = (target: object, method: string | symbol, decorate: MethodDecorator): void =>
  void decorate(target, method, Object.getOwnPropertyDescriptor(target, method)!);

/** A parameter of the path, with its schema. */
export const PathParam =
  (name: string, schema: object): ParameterDecorator =>
  (target, method, index) => {
    Param(name)(target, method, index);
    described(target, method!, ApiParam({ name, schema }));
  };

/** The id of a resource, which may not exist: 404. */
export const PathId =
  (name: string, prefix: IdPrefix): ParameterDecorator =>
  (target, method, index) => {
    PathParam(name, idOf(prefix))(target, method, index);
    described(target, method!, ApiProblems(404));
  };

/** Examples of problems that no request can cause; the others are recorded (openapi-examples.json). */
const UNCAUSED: Record<number, Problem> = {
  500: internalError('An unexpected error occurred.'),
  503: serviceUnavailable('The service cannot reach its database at the moment.'),
};

const problem = (status: number, baseUrl: string) => ({
  description: PROBLEM_DESCRIPTIONS[status]!,
  headers: {
    ...REQUEST_ID,
    ...(status === 401 ? CHALLENGE : {}),
    ...(status === 429 || status === 503 ? RETRY_AFTER : {}),
  },
  content: {
    'application/problem+json': {
      schema: {
        $ref: `#/components/schemas/${status === 401 || status === 403 ? 'PlainProblem' : 'Problem'}`,
      },
      ...(UNCAUSED[status] && {
        example: JSON.parse(renderProblem(UNCAUSED[status], baseUrl).body) as object,
      }),
    },
  },
});

/** The shared responses of the document that `ApiProblems` refers to. */
export const problemResponses = (baseUrl: string) =>
  Object.fromEntries(
    Object.keys(PROBLEM_DESCRIPTIONS).map((status) => [`Problem${status}`, problem(Number(status), baseUrl)]),
  );

import { applyDecorators, type Type } from '@nestjs/common';
import { ApiExtension, ApiQuery, ApiResponse, ApiTags, getSchemaPath } from '@nestjs/swagger';
import { ApiEndpoint, type ApiHeaders } from '#platform/http/api/api-answers.js';
import { listOf, oneOf, text, whole, type MemberSchema } from '#platform/http/api/api-schemas.js';
import { ProblemView } from '#platform/http/problems/problem.view.js';

const LOCATION: ApiHeaders = { Location: { required: true, schema: text() } };
const PAGE = { 'text/html': { schema: { type: 'string' } } };
// An instance that starts has no pages yet.
const PAGE_OR_PROBLEM = {
  ...PAGE,
  'application/problem+json': { schema: { $ref: getSchemaPath(ProblemView as Type) } },
};

const parameter = (name: string, schema: MemberSchema, description?: string): MethodDecorator =>
  ApiQuery({ name, required: false, description, schema: schema as object });

const redirect = (status: number): MethodDecorator =>
  ApiResponse({
    status,
    description: 'To the login page, or back to the client.',
    headers: LOCATION as never,
  });

/** A page, whatever the caller accepts. */
const refusal = (status: number, description: string, content: typeof PAGE = PAGE): MethodDecorator =>
  ApiResponse({ status, description, content });

/** Describes the authorization endpoint, which a browser opens, to developers of clients. */
export const ApiAuthorization = () =>
  applyDecorators(
    ApiEndpoint(
      'authorize',
      'Authorization page',
      'Opened by the end user in a browser; also without the trailing slash. Redirects to `redirect_uri` with `code` or `error`, `state` and `iss` (RFC 9207).',
    ),
    ApiTags('OAuth'),
    ApiExtension('x-trailing-slash', true),
    parameter('request_uri', text(), 'Of a pushed request, instead of all others but `client_id`.'),
    parameter('response_type', oneOf('code')),
    parameter('client_id', text()),
    parameter('redirect_uri', text(), 'As registered; on a loopback address with any port.'),
    parameter('scope', text(), 'Defaults to all scopes of the client.'),
    parameter('state', text()),
    parameter('code_challenge', text(undefined, { pattern: '^[A-Za-z0-9_-]{43}$' })),
    parameter('code_challenge_method', oneOf('S256')),
    parameter(
      'dpop_jkt',
      text(undefined, { pattern: '^[A-Za-z0-9_-]{43}$' }),
      'The thumbprint of a key that the code is bound to (RFC 9449).',
    ),
    parameter('resource', listOf(text()), 'What the tokens will be for (RFC 8707). May be repeated.'),
    parameter(
      'acr_values',
      text(),
      'How the user must have logged in (RFC 9470): `one_factor` or `two_factors`.',
    ),
    parameter('max_age', whole(), 'How many seconds ago the user may have logged in.'),
    ApiResponse({ status: 200, description: 'The consent page.', content: PAGE }),
    redirect(302),
    redirect(303),
    refusal(400, 'The client or the redirect URI is unknown, so there is nowhere to redirect to.'),
    refusal(429, 'Too many requests.'),
    refusal(500, 'An unexpected error occurred.'),
    refusal(
      503,
      'The database is unavailable, or this instance is starting, stopping or being replaced by a newer one.',
      PAGE_OR_PROBLEM,
    ),
  );

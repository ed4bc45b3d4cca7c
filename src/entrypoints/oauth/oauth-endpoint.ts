import {
  applyDecorators,
  createParamDecorator,
  Injectable,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type Type,
  mixin,
  type OnModuleInit,
} from '@nestjs/common';
import {
  ApiBody,
  ApiConsumes,
  ApiExtraModels,
  ApiSecurity,
  ApiTags,
  getSchemaPath,
  ApiProperty,
  ApiSchema,
} from '@nestjs/swagger';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import { ModuleRef } from '@nestjs/core';
import { ApiAnswer, ApiProblems, NOT_CACHED, type ApiHeaders } from '#platform/http/api/api-answers.js';
import { text, oneOf } from '#platform/http/api/api-schemas.js';
import { Form, queryStringOf } from '#platform/http/forms/form.js';
import { isCompressed } from '#platform/http/server/unread-bodies.js';
import { invalidRequest, renderOAuthError, OAUTH_ERROR_CODES } from './oauth-error.js';
import type { Problem } from '#platform/http/problems/problem.js';
import { RateLimitsService } from '#access/rate-limits/rate-limits.service.js';
import { repeatedParameter } from './repeated-parameter.js';

/** An error of an OAuth endpoint on the wire (RFC 6749 §5.2). */
@ApiSchema({ name: 'OAuthError' })
class OAuthErrorView {
  @ApiProperty(oneOf(...OAUTH_ERROR_CODES)) error!: string;
  @ApiProperty(text()) error_description!: string;
}

const FORM_NEEDED = 'The body must be application/x-www-form-urlencoded.';

/** Refuses a body that is not a form, parameters in the query string and repeated parameters of ours (RFC 6749 §3.2). */
@Injectable()
export class OAuthFormGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body, url } = context.switchToHttp().getRequest<FastifyRequest>();
    if (queryStringOf(url) !== '')
      throw invalidRequest('Parameters must be sent in the body, not in the query string.');
    if (!(body instanceof Form)) {
      throw invalidRequest(FORM_NEEDED);
    }
    const repeated = repeatedParameter(body);
    if (repeated !== undefined) throw invalidRequest(repeated);
    return true;
  }
}

const renderError = (problem: Problem, request: FastifyRequest) =>
  // Another media type is refused before any guard runs, but it is an invalid request like any other.
  renderOAuthError(
    problem.status === 415 && !isCompressed(request) ? invalidRequest(FORM_NEEDED) : problem,
    request,
  );

/**
 * An endpoint that takes a form, authenticates with the given guard, applies the limits of contract §7 (with `limitClients` also
 * per client), and renders errors as in RFC 6749 §5.2.
 */
export const OAuthEndpoint = (
  authentication: Type<CanActivate>,
  { limitClients = true, ...config }: FastifyContextConfig & { limitClients?: boolean } = {},
) =>
  applyDecorators(
    RouteConfig({ renderError, takesForm: true, ...config }),
    UseGuards(clientAuthAndLimits([OAuthFormGuard, authentication], { limitClients })),
  );

const NO_STORE_HEADERS: ApiHeaders = { ...NOT_CACHED, Pragma: { required: true, schema: text() } };
const CHALLENGE: ApiHeaders = { 'WWW-Authenticate': { required: true, schema: text() } };

/** The answer of an OAuth endpoint that has stored something. */
export const OAuthCreated = (description: string, type: Type) =>
  ApiAnswer(201, description, type, NO_STORE_HEADERS);

/** A JSON response of an OAuth endpoint. */
export const OAuthAnswer = (description: string, type: Type) =>
  ApiAnswer(200, description, type, NO_STORE_HEADERS);

/** The same with several classes, which are alternatives, and with other media types. */
export const OAuthAnswers = (
  description: string,
  types: Type[],
  others: Record<string, { schema: object; example: string }>,
) => {
  const schema = { oneOf: types.map((each) => ({ $ref: getSchemaPath(each) })) };
  const content = { 'application/json': { schema }, ...others };
  return applyDecorators(
    ApiExtraModels(...types),
    ApiAnswer(200, description, undefined, NO_STORE_HEADERS, undefined, content),
  );
};

/**
 * Describes an OAuth endpoint: its form, that a client authenticates with HTTP Basic or in the form, and its refusals as in RFC
 * 6749 §5.2; the others are problems.
 */
export const ApiOAuthForm = (form: Type, refusals: [status: number, description: string][]) =>
  applyDecorators(
    ApiTags('OAuth'),
    ApiConsumes('application/x-www-form-urlencoded'),
    ApiBody({ type: form }),
    ...refusals.map(([status, description]) =>
      ApiAnswer(status, description, OAuthErrorView, {
        ...NO_STORE_HEADERS,
        ...(status === 401 ? CHALLENGE : {}),
      }),
    ),
    ApiProblems(413, 415, 429, 500, 503),
    ApiSecurity('clientBasic'),
    ApiSecurity({}),
  );

/** The posted form, after the form guard. */
export const OAuthForm = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Form =>
    context.switchToHttp().getRequest<FastifyRequest>().body as Form,
);

/**
 * Runs the guards of an OAuth endpoint in order, with the limits of contract §7 around them. A request that authenticates a
 * client counts for that client (unless the endpoint has no client limit). Every other request counts for its address, so that a
 * stranger who sends a partner's client_id cannot use up the partner's limit. Over the address limit no credentials are checked,
 * so that guessing secrets reveals nothing.
 */
function clientAuthAndLimits(
  guards: Type<CanActivate>[],
  { limitClients }: { limitClients: boolean },
): Type<CanActivate> {
  @Injectable()
  class ClientAuthAndLimitsGuard implements CanActivate, OnModuleInit {
    private inside: CanActivate[] = [];

    constructor(
      private readonly limits: RateLimitsService,
      private readonly moduleRef: ModuleRef,
    ) {}

    onModuleInit(): void {
      this.inside = guards.map((guard) => this.moduleRef.get<CanActivate>(guard));
    }

    async canActivate(context: ExecutionContext): Promise<boolean> {
      const request = context.switchToHttp().getRequest<FastifyRequest>();
      this.limits.refuseOverLimit(request);
      // Requests that these guards refuse count for the address (`ProblemFilter`).
      for (const guard of this.inside) await guard.canActivate(context);
      const client = request.oauthClient;
      if (!limitClients || !client) return true;
      // A public client only has its id, which anyone can send.
      if (client.type === 'public') await this.limits.countAddress(request);
      else await this.limits.countClient(request, client);
      return true;
    }
  }
  return mixin(ClientAuthAndLimitsGuard);
}

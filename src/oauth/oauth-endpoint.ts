import {
  applyDecorators,
  createParamDecorator,
  Injectable,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import type { FastifyContextConfig, FastifyRequest } from 'fastify';
import { Form, queryStringOf } from '../http/form.js';
import { admission } from './admission.guard.js';
import { invalidRequest, renderOAuthError } from './oauth-error.js';
import type { Problem } from '../http/problem.js';

const FORM_NEEDED = 'The body must be application/x-www-form-urlencoded.';

/** Refuses what is no form, brings parameters in the query string, or brings one twice (RFC 6749 §3.2). */
@Injectable()
export class OAuthFormGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body, url } = context.switchToHttp().getRequest<FastifyRequest>();
    if (queryStringOf(url) !== '')
      throw invalidRequest('Parameters belong into the body, not into the query string.');
    if (!(body instanceof Form)) {
      throw invalidRequest(FORM_NEEDED);
    }
    if (body.repeated.length > 0) throw invalidRequest('A parameter was sent more than once.');
    return true;
  }
}

const renderError = (problem: Problem, request: FastifyRequest) =>
  // A media type without a parser is refused before any guard: here it is an invalid request like any other.
  renderOAuthError(problem.status === 415 ? invalidRequest(FORM_NEEDED) : problem, request);

/**
 * An endpoint that takes a form, authenticates with this guard, is under the limits of contract §7 (`limitClients`: for each
 * client too), and refuses in the words of RFC 6749 §5.2.
 */
export const OAuthEndpoint = (
  authentication: Type<CanActivate>,
  { limitClients = true, ...config }: FastifyContextConfig & { limitClients?: boolean } = {},
) =>
  applyDecorators(
    RouteConfig({ renderError, ...config }),
    UseGuards(admission([OAuthFormGuard, authentication], { limitClients })),
  );

/** The posted form, behind the form guard. */
export const OAuthForm = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Form =>
    context.switchToHttp().getRequest<FastifyRequest>().body as Form,
);

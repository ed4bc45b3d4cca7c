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
import { clientAuthAndLimits } from './client-auth-and-limits.guard.js';
import { invalidRequest, renderOAuthError } from './oauth-error.js';
import type { Problem } from '../http/problem.js';
import { repeatedParameter } from './repeated-parameter.js';

const FORM_NEEDED = 'The body must be application/x-www-form-urlencoded.';

/** Refuses a body that is not a form, parameters in the query string and repeated parameters (RFC 6749 §3.2). */
@Injectable()
export class OAuthFormGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { body, url } = context.switchToHttp().getRequest<FastifyRequest>();
    if (queryStringOf(url) !== '')
      throw invalidRequest('Parameters must be sent in the body, not in the query string.');
    if (!(body instanceof Form)) {
      throw invalidRequest(FORM_NEEDED);
    }
    if (body.repeated.length > 0) throw invalidRequest(repeatedParameter(body));
    return true;
  }
}

const renderError = (problem: Problem, request: FastifyRequest) =>
  // A media type without a parser is refused before any guard runs: here it is an invalid request like any other.
  renderOAuthError(problem.status === 415 ? invalidRequest(FORM_NEEDED) : problem, request);

/**
 * An endpoint that takes a form, authenticates with the given guard, applies the limits of contract §7 (with `limitClients` also
 * per client), and renders errors as in RFC 6749 §5.2.
 */
export const OAuthEndpoint = (
  authentication: Type<CanActivate>,
  { limitClients = true, ...config }: FastifyContextConfig & { limitClients?: boolean } = {},
) =>
  applyDecorators(
    RouteConfig({ renderError, ...config }),
    UseGuards(clientAuthAndLimits([OAuthFormGuard, authentication], { limitClients })),
  );

/** The posted form, after the form guard. */
export const OAuthForm = createParamDecorator(
  (_data: unknown, context: ExecutionContext): Form =>
    context.switchToHttp().getRequest<FastifyRequest>().body as Form,
);

import { Inject, Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ActivityService } from '../activity/activity.service.js';
import { Form, queryStringOf } from '../http/form.js';
import { badRequest, unauthorized } from '../http/problem.js';
import { AccessTokensService } from './access-tokens.service.js';
import { bearerTokenOf } from './bearer-token.js';
import type { Principal } from './principal.js';

export const BEARER_REALM = 'Bearer realm="Charging Data Service"';

declare module 'fastify' {
  interface FastifyRequest {
    principal?: Principal;
  }
}

/**
 * Lets a request with a live access token pass, and says 401 to any other. The token is taken from the
 * `Authorization` header alone (RFC 6750 §2.1): in the query string it would reach logs.
 */
@Injectable()
export class BearerGuard implements CanActivate {
  @Inject(AccessTokensService)
  private readonly accessTokens!: AccessTokensService;

  @Inject(ActivityService)
  private readonly activity!: ActivityService;

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const inHeader = request.headers.authorization !== undefined;
    const inQuery = Form.parse(queryStringOf(request.url)).get('access_token') !== undefined;
    // RFC 6750 §2: clients MUST NOT use more than one method to transmit the token in each request.
    if (inHeader && inQuery) throw badRequest('Send the access token in the Authorization header alone.');
    if (inQuery) {
      this.activity.count({ kind: 'bearer_refused', detail: 'token_in_query', address: request.ip });
      throw unauthorized(
        'Authentication credentials were not provided: a token in the query string is not accepted, send it in the Authorization header.',
        BEARER_REALM,
      );
    }
    if (!inHeader) {
      this.activity.count({ kind: 'bearer_refused', detail: 'no_token', address: request.ip });
      throw unauthorized('Authentication credentials were not provided.', BEARER_REALM);
    }
    const token = bearerTokenOf(request.headers.authorization) ?? '';
    request.principal = await this.accessTokens.find(token);
    if (request.principal) return true;
    await this.accessTokens.countRefusal(token, request.ip);
    throw unauthorized(
      'The access token is malformed, unknown, expired or revoked.',
      `${BEARER_REALM}, error="invalid_token", error_description="The access token is malformed, unknown, expired or revoked"`,
    );
  }
}

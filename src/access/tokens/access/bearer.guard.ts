import { say } from '#platform/language/text.js';
import { Injectable, type ExecutionContext } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { BearerRefusal } from '#records/activity/activity.js';
import { ActivityService } from '#records/activity/activity.service.js';
import { PRODUCT_NAME } from '#platform/config/brand-values.js';
import { Form, queryStringOf } from '#platform/http/forms/form.js';
import { badRequest, unauthorized, type Problem } from '#platform/http/problems/problem.js';
import { StrategyGuard, type CredentialsRequest, ownPassport } from '#platform/http/guards/strategy.guard.js';
import type { Judge } from '#platform/http/guards/late-judgement.js';
import { AccessTokensService } from './access-tokens.service.js';
import { type Principal, bearerTokenOf, isBearer } from './principal.js';
import { PassportStrategy } from '@nestjs/passport';
import { Strategy } from 'passport-http-bearer';

/** Bearer tokens (RFC 6750). The strategy reads the token from the header and calls `validate` with it. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, 'bearer') {
  constructor(private readonly accessTokens: AccessTokensService) {
    super();
  }

  /** The caller with this token; false if the token is not valid. */
  async validate(token: string): Promise<Principal | false> {
    return (await this.accessTokens.find(token)) ?? false;
  }

  getPassportInstance() {
    return ownPassport();
  }
}

export const BEARER_REALM = `Bearer realm="${PRODUCT_NAME}"`;

const challengeWith = (description: string): string =>
  `${BEARER_REALM}, error="invalid_token", error_description="${description}"`;

const challengeOf = (reason: BearerRefusal): string => challengeWith(invalidTokenMessage(reason));

const NARROWED = 'What the access token may do changed while the request was carried out. Send it again.';

/** The 401 problem for a token that was revoked after the guard had accepted it. */
export const invalidToken = (reason: BearerRefusal): Problem =>
  unauthorized(invalidTokenMessage(reason), challengeOf(reason));

declare module 'fastify' {
  interface FastifyRequest {
    principal?: Principal;
    /** The client of a genuine token that was refused, or is over its limit. */
    refusedClientId?: string;
  }
}

/**
 * Admits requests with a valid access token; all others get 401. The token is only read from the `Authorization` header (RFC 6750
 * §2.1): in the query string it would end up in logs.
 */
@Injectable()
export class BearerGuard extends StrategyGuard implements Judge {
  constructor(
    strategy: BearerStrategy,
    private readonly accessTokens: AccessTokensService,
    private readonly activity: ActivityService,
  ) {
    super(strategy);
  }

  override getRequest(context: ExecutionContext): CredentialsRequest {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { authorization } = request.headers;
    const inQuery = request.url.includes('?') && hasTokenInQuery(request.url);
    // RFC 6750 §2: clients MUST NOT use more than one method to transmit the token in each request.
    if (authorization !== undefined && inQuery) {
      throw badRequest(say('Send the access token only in the Authorization header.'));
    }
    if (inQuery) {
      this.activity.count({ kind: 'bearer_refused', detail: 'token_in_query', request });
      throw unauthorized(
        'Authentication credentials were not provided: a token in the query string is not accepted, send it in the Authorization header.',
        BEARER_REALM,
      );
    }
    // RFC 6750 §3.1: where no bearer token was sent, the challenge SHOULD NOT say what is wrong with one.
    if (!isBearer(authorization)) {
      this.activity.count({ kind: 'bearer_refused', detail: 'no_token', request });
      throw unauthorized(say('Authentication credentials were not provided.'), BEARER_REALM);
    }
    return { strategy: this.strategy, headers: { authorization: withOneBlank(authorization) } };
  }

  override handleRequest<User>(
    error: unknown,
    principal: Principal | false,
    _info: unknown,
    context: ExecutionContext,
  ): User {
    if (error) throw error;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!principal) return this.refuse(request) as User;
    request.principal = principal;
    if (this.isRead(request)) request.judge = this;
    return principal as User;
  }

  async judgeAgain(request: FastifyRequest): Promise<void> {
    const principal = await this.accessTokens.find(bearerTokenOf(request.headers.authorization) ?? '');
    if (!principal) return this.refuse(request);
    if (mayLess(principal, request.principal!)) throw this.refusal(NARROWED, challengeWith(NARROWED));
  }

  /**
   * Refuses an invalid token and counts the reason. The reason may be disclosed to the holder, because the token itself is a
   * secret.
   */
  private async refuse(request: FastifyRequest): Promise<never> {
    const token = bearerTokenOf(request.headers.authorization) ?? '';
    const { reason, client, resourceMetadata } = await this.accessTokens.countRefusal(token, request);
    request.refusedClientId = client?.id;
    // Only for a token that no client had before resources: all other challenges stay as they were.
    const more = resourceMetadata === undefined ? '' : `, resource_metadata="${resourceMetadata}"`;
    throw this.refusal(invalidTokenMessage(reason), challengeOf(reason) + more);
  }

  /**
   * Whether the request only reads. A request that changes something may have revoked its own token, and still gets its response.
   */
  protected isRead({ method }: FastifyRequest): boolean {
    return method === 'GET' || method === 'HEAD';
  }

  /** The error in the format of the endpoint. */
  protected refusal(description: string, challenge: string): Problem {
    return unauthorized(description, challenge);
  }
}

/** Whether the token currently allows less than it was issued for. */
const mayLess = (now: Principal, before: Principal): boolean =>
  now.client.operatorRole !== before.client.operatorRole ||
  !before.scopes.every((scope) => now.scopes.includes(scope));

/** Any of several: an empty parameter before it hides no token. */
const hasTokenInQuery = (url: string): boolean =>
  Form.parse(queryStringOf(url)).getAll('access_token').length > 0;

/** RFC 9110 §11.4 allows several spaces after the scheme; the strategy accepts one. */
const withOneBlank = (authorization: string): string =>
  authorization.includes('  ') ? authorization.replace(/^(\S+) +/, '$1 ') : authorization;

/**
 * What is wrong with an access token, in characters that `error_description` allows (RFC 6750 §3). Why a client, a user or a
 * consent ended is shown to operators only.
 */
function invalidTokenMessage(reason: BearerRefusal): string {
  switch (reason) {
    case 'token_malformed':
      return 'The access token is malformed: it was truncated or changed in transit.';
    case 'token_forged':
    case 'token_unknown':
      return 'The access token is unknown: it was never issued, or ended some time ago.';
    case 'token_expired':
      return 'The access token has expired.';
    case 'token_of_another_resource':
      return 'The access token is for another resource.';
    case 'grant_expired':
      return 'The grant of the access token has expired: the user has to authorize the client again.';
    default:
      return 'The access token was revoked.';
  }
}

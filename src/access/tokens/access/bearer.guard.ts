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
import { DpopStrategy, type DpopRequest } from '../dpop/dpop.strategy.js';
import { proofHeaders, type RefusedProof } from '../dpop/proof-claims.js';
import { SIGNATURE_ALGORITHMS } from '#access/clients/keys/jwk-set.js';
import { accessTokenOf, hasAccessToken, isDpop, type Principal } from './principal.js';
import { PassportStrategy } from '@nestjs/passport';
import type { Strategy as AnyStrategy } from 'passport';
import { Strategy } from 'passport-http-bearer';

/** Bearer tokens (RFC 6750). The strategy reads the token from the header and calls `validate` with it. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy, 'bearer') {
  constructor(private readonly accessTokens: AccessTokensService) {
    super();
  }

  /** The caller with this token; false if the token is not valid, or bound to a key, which this scheme does not prove (RFC 9449 §7.2). */
  async validate(token: string): Promise<Principal | false> {
    const principal = await this.accessTokens.find(token);
    return principal?.jkt === undefined ? (principal ?? false) : false;
  }

  getPassportInstance() {
    return ownPassport();
  }
}

const BEARER_REALM = `Bearer realm="${PRODUCT_NAME}"`;
const DPOP_ALGORITHMS = `DPoP algs="${SIGNATURE_ALGORITHMS.join(' ')}"`;
// RFC 6750 §3.1: where no token was sent, the challenge SHOULD NOT say what is wrong with one.
const BOTH_SCHEMES = `${BEARER_REALM}, ${DPOP_ALGORITHMS}`;

/** A challenge with an error, for a scheme (RFC 6750 §3, RFC 9449 §7.1). */
const challengeOf = (scheme: 'Bearer' | 'DPoP', error: string): string =>
  `${scheme === 'DPoP' ? DPOP_ALGORITHMS : BEARER_REALM}, ${error}`;

/** How a valid token has to be sent. */
const schemeFor = (principal: Pick<Principal, 'jkt'> | undefined): 'Bearer' | 'DPoP' =>
  principal?.jkt === undefined ? 'Bearer' : 'DPoP';

/** The challenge of a refusal of this caller, which had a valid token. */
export const challengeFor = (principal: Pick<Principal, 'jkt'> | undefined, error: string): string =>
  challengeOf(schemeFor(principal), error);

const NARROWED = 'What the access token may do changed while the request was carried out. Send it again.';

/** Why a request with an access token is refused. */
export interface TokenError {
  error: 'invalid_token' | 'invalid_dpop_proof' | 'use_dpop_nonce';
  description: string;
  challenge: string;
  /** Further headers. */
  headers: Record<string, string>;
}

const tokenError = (
  scheme: 'Bearer' | 'DPoP',
  description: string,
  error: TokenError['error'] = 'invalid_token',
  headers: Record<string, string> = {},
): TokenError => ({
  error,
  description,
  challenge: challengeOf(scheme, `error="${error}", error_description="${description}"`),
  headers,
});

/** The scheme of a request with a token. */
const schemeOf = ({ headers }: FastifyRequest) => (isDpop(headers.authorization) ? 'DPoP' : 'Bearer');

/** The 401 problem for the token of this caller, which was revoked after the guard had accepted it. */
export function invalidToken(reason: BearerRefusal, principal: Pick<Principal, 'jkt'>): Problem {
  const { description, challenge } = tokenError(schemeFor(principal), invalidTokenMessage(reason));
  return unauthorized(description, challenge);
}

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
    private readonly dpop: DpopStrategy,
    private readonly accessTokens: AccessTokensService,
    private readonly activity: ActivityService,
  ) {
    super(strategy);
  }

  override getRequest(context: ExecutionContext): CredentialsRequest | DpopRequest {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { authorization } = request.headers;
    refuseSeveralTokens(request);
    const inQuery = request.url.includes('?') && hasTokenInQuery(request.url);
    // RFC 6750 §2: clients MUST NOT use more than one method to transmit the token in each request.
    if (authorization !== undefined && inQuery) {
      throw badRequest(say('Send the access token only in the Authorization header.'));
    }
    if (inQuery) {
      this.activity.count({ kind: 'bearer_refused', detail: 'token_in_query', request });
      throw unauthorized(
        'Authentication credentials were not provided: a token in the query string is not accepted, send it in the Authorization header.',
        BOTH_SCHEMES,
      );
    }
    if (!hasAccessToken(authorization)) {
      this.activity.count({ kind: 'bearer_refused', detail: 'no_token', request });
      throw unauthorized(say('Authentication credentials were not provided.'), BOTH_SCHEMES);
    }
    if (isDpop(authorization))
      return { strategy: this.dpop as object as AnyStrategy, headers: { authorization }, request };
    return { strategy: this.strategy, headers: { authorization: withOneBlank(authorization) } };
  }

  override handleRequest<User>(
    error: unknown,
    principal: Principal | false,
    refused: RefusedProof | undefined,
    context: ExecutionContext,
  ): User {
    if (error) throw error;
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!principal) {
      return (
        schemeOf(request) === 'DPoP' && refused ? this.refuseProof(refused, request) : this.refuse(request)
      ) as User;
    }
    request.principal = principal;
    if (this.isRead(request)) request.judge = this;
    return principal as User;
  }

  async judgeAgain(request: FastifyRequest): Promise<void> {
    const principal = await this.accessTokens.find(accessTokenOf(request.headers.authorization) ?? '');
    if (!principal) return this.refuse(request);
    if (mayLess(principal, request.principal!)) throw this.refusal(tokenError(schemeOf(request), NARROWED));
  }

  /**
   * Refuses an invalid token and counts the reason. The reason may be disclosed to the holder, because the token itself is a
   * secret.
   */
  private async refuse(request: FastifyRequest): Promise<never> {
    const token = accessTokenOf(request.headers.authorization) ?? '';
    const scheme = schemeOf(request);
    const refusal = await this.accessTokens.countRefusal(token, request, scheme === 'DPoP');
    const { reason, client, resourceMetadata } = refusal;
    request.refusedClientId = client?.id;
    const error = tokenError(scheme, invalidTokenMessage(reason));
    // Only for a token that no client had before resources: all other challenges stay as they were.
    const more = resourceMetadata === undefined ? '' : `, resource_metadata="${resourceMetadata}"`;
    throw this.refusal({ ...error, challenge: error.challenge + more });
  }

  /** Refuses a proof that came with a valid token. */
  private async refuseProof(proof: RefusedProof, request: FastifyRequest): Promise<never> {
    const { client } = (await this.accessTokens.find(accessTokenOf(request.headers.authorization)!)) ?? {};
    this.activity.count({ kind: 'bearer_refused', detail: proof.refused, client, request });
    request.refusedClientId = client?.id;
    const error = proof.nonce === undefined ? 'invalid_dpop_proof' : 'use_dpop_nonce';
    throw this.refusal(tokenError('DPoP', proof.description, error, proofHeaders(proof)));
  }

  /**
   * Whether the request only reads. A request that changes something may have revoked its own token, and still gets its response.
   */
  protected isRead({ method }: FastifyRequest): boolean {
    return method === 'GET' || method === 'HEAD';
  }

  /** The error in the format of the endpoint. */
  protected refusal({ description, challenge, headers }: TokenError): Problem {
    return unauthorized(description, challenge, headers);
  }
}

/**
 * Throws a 400 problem if there are several `Authorization` headers: RFC 6750 §2 and RFC 9449 §7.2 allow one token. Node.js drops all but the
 * first without a word.
 */
function refuseSeveralTokens({ raw: { rawHeaders } }: FastifyRequest): void {
  let found = 0;
  for (let n = 0; n < rawHeaders.length; n += 2) {
    const name = rawHeaders[n]!;
    if (name.length === 13 && name.toLowerCase() === 'authorization') found++;
  }
  if (found > 1) throw badRequest('Send one access token, in one Authorization header.');
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
    case 'token_bound':
      return 'The access token is bound to a key: send it with the scheme DPoP and a proof.';
    case 'token_not_bound':
      return 'The access token is not bound to a key: send it with the scheme Bearer.';
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

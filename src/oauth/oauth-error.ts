import type { FastifyRequest } from 'fastify';
import { Problem } from '../http/problem.js';
import type { Rendered } from '../http/route-options.js';
import { refusalCounter } from './oauth-metrics.js';

export type OAuthErrorCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'unauthorized_client'
  | 'unsupported_grant_type'
  | 'invalid_scope'
  | 'invalid_token'
  | 'insufficient_scope';

declare module 'fastify' {
  interface FastifyRequest {
    /** What an OAuth endpoint refused the request with. */
    refusedWith?: OAuthErrorCode;
  }
}

/** RFC 6749 §5.1 and §5.2: neither tokens nor refusals may be stored. */
export const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' };

/** A refusal of an OAuth endpoint (RFC 6749 §5.2). The description is for developers and echoes nothing of the request. */
export class OAuthError extends Problem {
  constructor(
    readonly code: OAuthErrorCode,
    description: string,
    status = 400,
    headers: Record<string, string> = {},
  ) {
    super(status, code, description, undefined, { headers });
  }
}

export const invalidRequest = (description: string) => new OAuthError('invalid_request', description);
export const invalidGrant = (description: string) => new OAuthError('invalid_grant', description);
export const invalidScope = (description: string) => new OAuthError('invalid_scope', description);

/** 401 with the Basic challenge, whichever way the client tried. */
export const invalidClient = () =>
  new OAuthError(
    'invalid_client',
    'Client authentication failed: unknown or disabled client, wrong or expired secret, or no authentication.',
    401,
    { 'www-authenticate': 'Basic realm="Charging Data Service", charset="UTF-8"' },
  );

/** Renders the refusals of OAuth endpoints: 400, 401 and 403 as RFC 6749 JSON, the others as problems. */
export function renderOAuthError(problem: Problem, request: FastifyRequest): Rendered | undefined {
  const code = problem instanceof OAuthError ? problem.code : codeOf(problem.status);
  if (code === undefined) return undefined;
  request.refusedWith = code;
  refusalCounter.inc({ endpoint: request.routeOptions.url, error: code });
  return {
    status: problem.status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...NO_STORE },
    body: JSON.stringify({ error: code, error_description: problem.detail }),
  };
}

/** What the HTTP layer refused before the endpoint saw it, such as broken percent-encoding. */
const codeOf = (status: number): OAuthErrorCode | undefined =>
  status === 400 ? 'invalid_request' : undefined;

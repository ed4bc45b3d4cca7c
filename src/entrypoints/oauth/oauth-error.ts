import type { FastifyRequest } from 'fastify';
import type { TokenRefusal } from '#records/activity/activity.js';
import { PRODUCT_NAME } from '#platform/config/brand-values.js';
import { OAUTH_ERROR_KINDS } from '#platform/http/problems/oauth-error-kinds.js';
import { Problem } from '#platform/http/problems/problem.js';
import type { Rendered } from '#platform/http/server/route-options.js';
import { refusalCounter } from './oauth-metrics.js';

export type OAuthErrorCode = keyof typeof OAUTH_ERROR_KINDS;
export const OAUTH_ERROR_CODES = Object.keys(OAUTH_ERROR_KINDS) as OAuthErrorCode[];

declare module 'fastify' {
  interface FastifyRequest {
    /** Why an OAuth endpoint refused the request: the reason, or else the error code. */
    refusedWith?: OAuthErrorCode | TokenRefusal;
  }
}

/** RFC 6749 §5.1 and §5.2: neither tokens nor errors may be cached. */
export const NO_STORE = { 'cache-control': 'no-store', pragma: 'no-cache' };

/**
 * An error of an OAuth endpoint (RFC 6749 §5.2). The description is for the client's developers and echoes nothing of the request
 * but scope names. The reason is for operators and may be more specific; `RefusalCounts` counts it.
 */
export class OAuthError extends Problem {
  constructor(
    readonly code: OAuthErrorCode,
    description: string,
    status = 400,
    headers: Record<string, string> = {},
    readonly reason?: TokenRefusal,
  ) {
    super(status, code, description, undefined, { headers });
  }
}

export const invalidRequest = (description: string) => new OAuthError('invalid_request', description);

/**
 * 401 with the Basic challenge, however the client tried to authenticate. Only who has proved to be the client is told more than that it
 * failed.
 */
export const invalidClient = (
  description = 'Client authentication failed: unknown or disabled client, wrong or expired secret, or no authentication.',
) =>
  new OAuthError('invalid_client', description, 401, {
    'www-authenticate': `Basic realm="${PRODUCT_NAME}", charset="UTF-8"`,
  });

/** Renders errors of OAuth endpoints: 400, 401 and 403 as RFC 6749 JSON, the others as problems. */
export function renderOAuthError(problem: Problem, request: FastifyRequest): Rendered | undefined {
  const code = problem instanceof OAuthError ? problem.code : codeOf(problem.status);
  if (code === undefined) return undefined;
  request.refusedWith = (problem instanceof OAuthError && problem.reason) || code;
  if (request.refusedWith === 'sandbox_fault') request.sandboxFault = 'refresh';
  if (!isOfSandbox(request)) refusalCounter.inc({ endpoint: request.routeOptions.url, error: code });
  return {
    status: problem.status,
    headers: { 'content-type': 'application/json; charset=utf-8', ...NO_STORE },
    body: JSON.stringify({ error: code, error_description: problem.detail }),
  };
}

/** Whether the request came from a client of a sandbox, or named one with the credentials that were refused. */
const isOfSandbox = ({ oauthClient, principal, refusal }: FastifyRequest): boolean =>
  (oauthClient ?? principal?.client)?.environment === 'sandbox' || refusal?.isOfSandbox === true;

/**
 * The error code for a request that the HTTP layer refused before it reached the endpoint, for example for broken
 * percent-encoding.
 */
const codeOf = (status: number): OAuthErrorCode | undefined =>
  status === 400 ? 'invalid_request' : undefined;

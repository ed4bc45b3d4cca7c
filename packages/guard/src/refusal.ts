import type { GuardSettings } from './options.js';
import { metadataUrlOf } from './metadata.js';

/** A refusal, as it is answered: a problem (RFC 9457), with a challenge (RFC 6750 §3) where credentials would help. */
export class AccessRefusal extends Error {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;

  constructor(
    readonly status: 400 | 401 | 403 | 503,
    title: string,
    readonly detail: string,
    headers: Record<string, string> = {},
  ) {
    super(detail);
    this.body = JSON.stringify({ status, title, detail });
    this.headers = {
      'content-type': 'application/problem+json; charset=utf-8',
      'cache-control': 'no-store',
      ...headers,
    };
  }
}

/** Neither an answer of the service nor a fresh one from memory can be had. */
export const unavailable = (retryAfterSeconds: number): AccessRefusal =>
  new AccessRefusal(
    503,
    'Service unavailable',
    'Access tokens cannot be checked at the moment. Please try again shortly.',
    { 'retry-after': String(retryAfterSeconds) },
  );

/** The refusals of one guarded service, which name its metadata (RFC 9728 §5.1). */
export class Refusals {
  private readonly metadata: string;

  constructor({ resource }: GuardSettings) {
    this.metadata = `resource_metadata="${metadataUrlOf(resource)}"`;
  }

  /** RFC 6750 §3.1: a request without a token is not told what is wrong with one. */
  noToken(): AccessRefusal {
    return this.unauthorized('Authentication credentials were not provided.', '');
  }

  invalidToken(): AccessRefusal {
    const detail = 'The access token is invalid, expired or revoked.';
    return this.unauthorized(detail, `error="invalid_token", error_description="${detail}", `);
  }

  /** RFC 6750 §2: a token may be sent in one way only; here only in the header, so that it never reaches a log. */
  tokenInQuery(isSentTwice: boolean): AccessRefusal {
    const detail = 'Send the access token in the Authorization header, not in the query string.';
    if (!isSentTwice) return this.unauthorized(detail, '');
    const challenge = `Bearer error="invalid_request", error_description="${detail}", ${this.metadata}`;
    return new AccessRefusal(400, 'Bad request', detail, { 'www-authenticate': challenge });
  }

  insufficientScope(scopes: readonly string[]): AccessRefusal {
    const needed = scopes.length > 0 ? `scope="${scopes.join(' ')}", ` : '';
    const detail =
      scopes.length > 0
        ? `This requires the scope ${scopes.join(' ')}, which the access token does not have here.`
        : 'The access token does not allow this.';
    return new AccessRefusal(403, 'Forbidden', detail, {
      'www-authenticate': `Bearer error="insufficient_scope", ${needed}${this.metadata}`,
    });
  }

  private unauthorized(detail: string, error: string): AccessRefusal {
    return new AccessRefusal(401, 'Unauthorized', detail, {
      'www-authenticate': `Bearer ${error}${this.metadata}`,
    });
  }
}

import type { GuardSettings } from './options.js';
import { metadataUrlOf, PROOF_ALGORITHMS } from './metadata.js';

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

/** How the token of a request was sent. */
export type Scheme = 'Bearer' | 'DPoP';

/** The refusals of one guarded service, which name its metadata (RFC 9728 §5.1). */
export class Refusals {
  private readonly metadata: string;
  private readonly takesBound: boolean;

  constructor({ resource, dpop }: GuardSettings) {
    this.metadata = `resource_metadata="${metadataUrlOf(resource)}"`;
    this.takesBound = dpop !== undefined;
  }

  /** RFC 6750 §3.1: a request without a token is not told what is wrong with one. */
  noToken(): AccessRefusal {
    return this.withoutToken('Authentication credentials were not provided.');
  }

  invalidToken(scheme: Scheme): AccessRefusal {
    return this.unauthorized(scheme, 'invalid_token', 'The access token is invalid, expired or revoked.');
  }

  /** RFC 9449 §7.2: a token that is bound to a key, sent without a proof. */
  boundToken(): AccessRefusal {
    const help = this.takesBound
      ? ': send it with the scheme DPoP and a proof.'
      : ', which is not accepted here.';
    return this.unauthorized('Bearer', 'invalid_token', `The access token is bound to a key${help}`);
  }

  unboundToken(): AccessRefusal {
    const detail = 'The access token is not bound to a key: send it with the scheme Bearer.';
    return this.unauthorized('DPoP', 'invalid_token', detail);
  }

  /** RFC 9449 §7.1. */
  invalidProof(detail: string): AccessRefusal {
    return this.unauthorized('DPoP', 'invalid_dpop_proof', detail);
  }

  /** RFC 6750 §2: a token may be sent in one way only; here only in the header, so that it never reaches a log. */
  tokenInQuery(isSentTwice: boolean): AccessRefusal {
    const detail = 'Send the access token in the Authorization header, not in the query string.';
    return isSentTwice ? this.invalidRequest(detail) : this.withoutToken(detail);
  }

  severalTokens(): AccessRefusal {
    return this.invalidRequest('Send one access token, in one Authorization header.');
  }

  insufficientScope(scheme: Scheme, scopes: readonly string[]): AccessRefusal {
    const needed = scopes.length > 0 ? `scope="${scopes.join(' ')}", ` : '';
    const detail =
      scopes.length > 0
        ? `This requires the scope ${scopes.join(' ')}, which the access token does not have here.`
        : 'The access token does not allow this.';
    return new AccessRefusal(403, 'Forbidden', detail, {
      'www-authenticate': this.challenge(scheme, `error="insufficient_scope", ${needed}`),
    });
  }

  private invalidRequest(detail: string): AccessRefusal {
    const error = `error="invalid_request", error_description="${detail}", `;
    return new AccessRefusal(400, 'Bad request', detail, {
      'www-authenticate': this.challenge('Bearer', error),
    });
  }

  private withoutToken(detail: string): AccessRefusal {
    const schemes: Scheme[] = this.takesBound ? ['Bearer', 'DPoP'] : ['Bearer'];
    return new AccessRefusal(401, 'Unauthorized', detail, {
      'www-authenticate': schemes.map((scheme) => this.challenge(scheme, '')).join(', '),
    });
  }

  private unauthorized(scheme: Scheme, error: string, detail: string): AccessRefusal {
    const words = `error="${error}", error_description="${detail}", `;
    return new AccessRefusal(401, 'Unauthorized', detail, {
      'www-authenticate': this.challenge(scheme, words),
    });
  }

  private challenge(scheme: Scheme, error: string): string {
    const algorithms = scheme === 'DPoP' ? `algs="${PROOF_ALGORITHMS.join(' ')}", ` : '';
    return `${scheme} ${algorithms}${error}${this.metadata}`;
  }
}

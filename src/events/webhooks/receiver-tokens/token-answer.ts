import type { HttpOutcome } from '../http/http-outcome.js';

/** RFC 6749 §5.1 only recommends `expires_in`: without it, this long, or until the receiver refuses the token. */
const UNKNOWN_LIFE_SECONDS = 3600;
/** A token is given up so long before its end that a request with it can still arrive: a tenth of its life, 30 s at most. */
const MARGIN = 0.1;
const MARGIN_MAX_SECONDS = 30;

/** RFC 6749 §5.2. Any other text of the answer is not repeated, because it may hold anything. */
const ERRORS = [
  'invalid_request',
  'invalid_client',
  'invalid_grant',
  'unauthorized_client',
  'unsupported_grant_type',
  'invalid_scope',
];

/** An access token; `keptMs`: how long it can be used, 0 for only now. */
export interface FetchedToken {
  kind: 'token';
  token: string;
  keptMs: number;
}

type Failure = Extract<HttpOutcome, { kind: 'failure' }>;

/** The token in the answer of an authorization server (RFC 6749 §5.1), or why there is none, in a sentence for the owner of the endpoint. */
export function tokenIn(outcome: HttpOutcome): FetchedToken | Exclude<HttpOutcome, { kind: 'response' }> {
  if (outcome.kind === 'aborted') return outcome;
  const { durationMs } = outcome;
  const failed = (why: string): Failure => ({
    kind: 'failure',
    failure: 'token',
    detail: `No access token from the token endpoint: ${why}`,
    durationMs,
  });
  if (outcome.kind === 'failure')
    return failed(`${outcome.detail.charAt(0).toLowerCase()}${outcome.detail.slice(1)}`);
  const { status, bodyStart } = outcome;
  const answer = objectIn(bodyStart);
  if (status < 200 || status >= 300) {
    const error = ERRORS.find((each) => each === answer?.['error']);
    return failed(`it answered ${error === undefined ? `with status ${status}` : `${status} ${error}`}.`);
  }
  if (!answer) return failed('its answer is not a JSON object.');
  const { access_token: token, token_type: type, expires_in: life } = answer;
  if (typeof token !== 'string' || token === '') return failed('its answer has no access_token.');
  // RFC 6750 §2.1, a little wider: what a header can carry without ending it.
  if (!/^[\x21-\x7e]+$/.test(token)) return failed('its access_token cannot be sent in a header.');
  if (typeof type !== 'string' || type.toLowerCase() !== 'bearer') {
    return failed('its answer has another token_type than Bearer.');
  }
  return { kind: 'token', token, keptMs: keptSeconds(life) * 1000 };
}

function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

/** Some servers write the number as a text. */
function keptSeconds(life: unknown): number {
  if (life === undefined || life === null) return UNKNOWN_LIFE_SECONDS;
  const seconds = Number(life);
  if (!Number.isFinite(seconds) || seconds <= 0) return 0;
  return seconds - Math.min(seconds * MARGIN, MARGIN_MAX_SECONDS);
}

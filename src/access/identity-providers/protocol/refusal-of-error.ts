import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from 'openid-client';
import { SignInRefused, type SignInRefusalReason } from '../refusals.js';
import { ProviderFailure } from './provider-fetch.js';

/** Translates an error of the exchange with a provider into a refusal; anything unknown counts as an invalid answer. */
export function refusalOfError(error: unknown): SignInRefused {
  if (error instanceof SignInRefused) return error;
  const chain = causesOf(error);
  const message = chain.map(messageOf).join(': ');
  return new SignInRefused(reasonOf(chain), message, { cause: error });
}

/**
 * Whether the query that the browser came back with says that the provider failed. Anyone can write such a query, so it proves nothing
 * about the provider.
 */
export const isSaidByBrowser = (error: unknown): boolean =>
  causesOf(error).some((each) => each instanceof AuthorizationResponseError);

// Errors in the request rather than with the person: the client at the provider, its redirect URI or the scope.
const CLIENT_REFUSED = [
  ...['invalid_client', 'unauthorized_client', 'invalid_request', 'invalid_scope'],
  ...['unsupported_response_type', 'unsupported_grant_type'],
];
const NOT_NOW = ['server_error', 'temporarily_unavailable'];

function reasonOf(chain: unknown[]): SignInRefusalReason {
  const failure = chain.find((each) => each instanceof ProviderFailure);
  if (failure) return failure.reason;
  const named = chain.find(
    (each) => each instanceof AuthorizationResponseError || each instanceof ResponseBodyError,
  );
  if (named && CLIENT_REFUSED.includes(named.error)) return 'client_refused';
  if (named && NOT_NOW.includes(named.error)) return 'provider_unavailable';
  return named || chain.some((each) => each instanceof WWWAuthenticateChallengeError)
    ? 'provider_refused'
    : 'provider_answer_invalid';
}

/** The issuer in a discovery document that the library has refused for it. */
export const issuerNamedIn = (error: unknown): unknown =>
  causesOf(error)
    .map((each) => (each as Error & { cause?: { attribute?: unknown; body?: { issuer?: unknown } } }).cause)
    .find((cause) => cause?.attribute === 'issuer')?.body?.issuer;

/** The error and its causes, outermost first. */
function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let each = error; each instanceof Error && chain.length < 5; each = each.cause) chain.push(each);
  return chain;
}

/** Without the provider's own texts. */
function messageOf(error: unknown): string {
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError)
    return `error ${error.error.replace(/[^\w.-]/g, '').slice(0, 40)}`;
  return (error as Error).message;
}

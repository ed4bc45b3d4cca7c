import { AuthorizationResponseError, ResponseBodyError, WWWAuthenticateChallengeError } from 'openid-client';
import { SignInRefused, type SignInRefusalReason } from '../refusals.js';
import { ProviderUnreachable } from './provider-fetch.js';

/** The refusal that an error of the exchange with a provider means; whatever is not an error of its own is an invalid answer. */
export function refusalOfError(error: unknown): SignInRefused {
  if (error instanceof SignInRefused) return error;
  const chain = causesOf(error);
  const message = chain.map(messageOf).join(': ');
  return new SignInRefused(reasonOf(chain), message, { cause: error });
}

function reasonOf(chain: unknown[]): SignInRefusalReason {
  if (chain.some((each) => each instanceof ProviderUnreachable)) return 'provider_unavailable';
  return chain.some(
    (each) =>
      each instanceof AuthorizationResponseError ||
      each instanceof ResponseBodyError ||
      each instanceof WWWAuthenticateChallengeError,
  )
    ? 'provider_refused'
    : 'provider_answer_invalid';
}

/** The error and its causes, outermost first. */
function causesOf(error: unknown): unknown[] {
  const chain: unknown[] = [];
  for (let each = error; each instanceof Error && chain.length < 5; each = each.cause) chain.push(each);
  return chain;
}

/** The provider's own words are left out. */
function messageOf(error: unknown): string {
  if (error instanceof AuthorizationResponseError || error instanceof ResponseBodyError)
    return `error ${error.error.replace(/[^\w.-]/g, '').slice(0, 40)}`;
  return (error as Error).message;
}

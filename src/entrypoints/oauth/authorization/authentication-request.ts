import type { SignedInUser } from '#access/users/sessions/signed-in-user.js';
import type { Form } from '#platform/http/forms/form.js';

/** How a user logged in (RFC 9470 §3): with a password or at a provider; or with a second factor, or a passkey, which is both. */
export const ACRS = ['one_factor', 'two_factors'] as const;
type Acr = (typeof ACRS)[number];

/** What an authorization request asks of the login (RFC 9470 §4). */
export interface AuthenticationRequest {
  /** How long ago it may be, in seconds. */
  maxAge: number | undefined;
  /** Any of these. */
  acrs: readonly Acr[] | undefined;
}

/** When and how a user logged in, for the tokens. */
export interface Authentication {
  authTime: Date | undefined;
  acr: Acr;
}

/** Undefined if the request asks for nothing; or what is wrong with it. */
export function authenticationRequestIn(
  query: Form,
): AuthenticationRequest | undefined | { refused: string } {
  const [age, values] = [query.get('max_age'), query.get('acr_values')];
  if (age === undefined && values === undefined) return undefined;
  if (age !== undefined && !/^\d{1,9}$/.test(age)) {
    return { refused: 'The max_age must be a number of seconds.' };
  }
  const acrs = values === undefined ? undefined : ACRS.filter((acr) => values.split(' ').includes(acr));
  if (acrs?.length === 0) return { refused: `Of the acr_values, none is known: ${ACRS.join(', ')}.` };
  return { maxAge: age === undefined ? undefined : Number(age), acrs };
}

type HowSignedIn = Pick<SignedInUser, 'authenticatedAt' | 'usedSecondFactor'>;

/** How the user of a session logged in. Of the factors of a provider, nothing is known. */
export const authenticationOf = ({ authenticatedAt, usedSecondFactor }: HowSignedIn): Authentication => ({
  authTime: authenticatedAt ?? undefined,
  acr: usedSecondFactor ? 'two_factors' : 'one_factor',
});

/** Of a driver of a sandbox, who has no login: as asked for, so that partners can try it. */
export const authenticationInSandbox = ({ acrs }: AuthenticationRequest): Authentication => ({
  authTime: new Date(),
  acr: acrs?.[0] ?? 'one_factor',
});

/** A login this recent is enough for any `max_age`: it has to lead back here first. */
const JUST_NOW_SECONDS = 60;

/** What the login of a user lacks. */
export function lackIn(
  { maxAge, acrs }: AuthenticationRequest,
  user: HowSignedIn,
  now = Date.now(),
): 'factor' | 'recent login' | undefined {
  const { authTime, acr } = authenticationOf(user);
  // Who has given two factors has given one.
  if (acrs && !acrs.includes(acr) && acr !== 'two_factors') return 'factor';
  if (maxAge === undefined) return undefined;
  const seconds = authTime ? (now - authTime.getTime()) / 1000 : Infinity;
  return seconds > Math.max(maxAge, JUST_NOW_SECONDS) ? 'recent login' : undefined;
}

import { isEmail } from 'class-validator';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import { OPERATOR_ROLES, type OperatorRole } from '#platform/config/operator-role.js';
import { illegible } from '#platform/http/validation/legible-text.js';
import { SignInRefused } from '../refusals.js';
import { claimAt, claimTexts, type Claims } from './claims.js';

/** A person as the provider describes them, validated. */
export interface Person {
  issuer: string;
  subject: string;
  sid?: string;
  authenticatedAt?: Date;
  /** Only an address that the provider calls verified, or that the settings trust. */
  verifiedEmail?: string;
  /** Whether the provider sent any address, verified or not. */
  hasEmail: boolean;
  /** Whether the provider says if it has verified addresses, whatever it says. */
  saysWhetherVerified: boolean;
  name?: string;
  /** What the browser has posted as the name, which nobody has signed: it only names a new account. */
  postedName?: string;
  /** The role that the provider's claim gives; undefined if it gives none. */
  role?: OperatorRole;
  /** The ID token with these claims, needed to log out at the provider. */
  idToken: string;
}

/** The person in the claims of a validated ID token and of the answer of the userinfo endpoint. */
export function personOf(
  provider: IdentityProvider,
  idToken: Claims,
  userinfo: Claims,
): Omit<Person, 'idToken'> {
  const { iss, sub, sid, auth_time: authTime } = idToken;
  if (typeof iss !== 'string' || typeof sub !== 'string' || !isIdentifier(sub)) {
    throw new SignInRefused('provider_answer_invalid', 'the subject is not 1 to 255 characters');
  }
  return {
    issuer: iss,
    subject: sub,
    sid: typeof sid === 'string' && isIdentifier(sid) ? sid : undefined,
    authenticatedAt: typeof authTime === 'number' ? dateOf(authTime) : undefined,
    verifiedEmail:
      verifiedEmailIn(idToken) ?? verifiedEmailIn(userinfo) ?? trustedEmailIn(provider, idToken, userinfo),
    hasEmail: Boolean(idToken.email ?? userinfo.email),
    saysWhetherVerified: saysWhetherVerified(idToken, userinfo),
    name: fitName(idToken.name) ?? fitName(userinfo.name),
    role: roleOf(provider, idToken, userinfo),
  };
}

/** OpenID Connect allows at most 255 ASCII characters. Others are accepted too, if they can be stored. */
const isIdentifier = (value: string): boolean =>
  value.length > 0 && value.length <= 255 && value.isWellFormed() && !value.includes('\0');

function dateOf(seconds: number): Date | undefined {
  const date = new Date(seconds * 1000);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

/** Only with an `email_verified` from the same source, which some providers send as text. */
function verifiedEmailIn({ email, email_verified: verified }: Claims): string | undefined {
  return verified === true || verified === 'true' ? addressIn(email) : undefined;
}

const saysWhetherVerified = (idToken: Claims, userinfo: Claims): boolean =>
  'email_verified' in idToken || 'email_verified' in userinfo;

/**
 * The address from a provider that sends no `email_verified`, if the settings trust it; an explicit "not verified" always counts.
 */
function trustedEmailIn(
  { trustEmail }: IdentityProvider,
  idToken: Claims,
  userinfo: Claims,
): string | undefined {
  if (!trustEmail || saysWhetherVerified(idToken, userinfo)) return undefined;
  const email = addressIn(idToken.email ?? userinfo.email);
  const domain = email?.slice(email.lastIndexOf('@') + 1).toLowerCase();
  return trustEmail === true || trustEmail.includes(domain ?? '') ? email : undefined;
}

function addressIn(email: unknown): string | undefined {
  if (typeof email !== 'string' || email.length > 254) return undefined;
  return isEmail(email) && illegible(email) === undefined ? email : undefined;
}

/** A name for an account; undefined for what is none, or cannot be shown. */
export function fitName(name: unknown): string | undefined {
  if (typeof name !== 'string') return undefined;
  const text = name.trim();
  const isFit = text.length > 0 && text.length <= 200 && text.isWellFormed() && illegible(text) === undefined;
  return isFit ? text : undefined;
}

/** The highest role among the values of the claim; throws if the provider only says where to ask for it (OpenID Connect Core §5.6.2). */
function roleOf(
  { roleClaim, roles }: IdentityProvider,
  idToken: Claims,
  userinfo: Claims,
): OperatorRole | undefined {
  if (roleClaim === undefined) return undefined;
  const claim = claimAt(idToken, roleClaim) ?? claimAt(userinfo, roleClaim);
  if (claim === undefined && [idToken, userinfo].some((claims) => isElsewhere(claims, roleClaim))) {
    throw new SignInRefused('provider_answer_invalid', 'the claim of the role is a distributed one');
  }
  const values = claimTexts(claim);
  const given = values.map((value) => roles.get(value));
  return OPERATOR_ROLES.findLast((role) => given.includes(role));
}

/** Whether a claim, or the first part of a path, is one that is not in the answer itself, as Entra does with more than 200 groups. */
function isElsewhere({ _claim_names: names }: Claims, path: string): boolean {
  if (typeof names !== 'object' || names === null) return false;
  return [path, path.split('.', 1)[0]!].some((name) => Object.hasOwn(names, name));
}

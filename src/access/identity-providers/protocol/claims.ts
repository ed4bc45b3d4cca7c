import type { JWTPayload } from 'jose';
import type { IdentityProvider } from '#platform/config/identity-providers.js';
import { SignInRefused } from '../refusals.js';

export type Claims = JWTPayload & Record<string, unknown>;

/** The claim of this name, or the one that a path with dots leads to, such as `realm_access.roles`; names may have dots themselves. */
export function claimAt(claims: object, path: string): unknown {
  if (Object.hasOwn(claims, path)) return (claims as Claims)[path];
  for (let dot = path.indexOf('.'); dot >= 0; dot = path.indexOf('.', dot + 1)) {
    const head = path.slice(0, dot);
    const inner = Object.hasOwn(claims, head) ? (claims as Claims)[head] : undefined;
    const found = isObject(inner) ? claimAt(inner, path.slice(dot + 1)) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The texts of a claim: every item of an array; a single text both as it is and split at commas; of an object the names that lead to an
 * object, which is how Zitadel sends roles: `{"admin": {"<organisation>": "<domain>"}}`.
 */
export function claimTexts(claim: unknown): string[] {
  if (typeof claim === 'string') return [claim, ...claim.split(',').map((text) => text.trim())];
  if (isObject(claim)) {
    return Object.entries(claim).flatMap(([name, value]) => (isObject(value) ? [name] : []));
  }
  return Array.isArray(claim) ? claim.filter((each) => typeof each === 'string') : [];
}

/** Refuses an authentication that was not as strong as the provider's settings require (OpenID Connect Core §2, RFC 8176). */
export function requireStrength({ acrValues, amrValues }: IdentityProvider, { acr, amr }: Claims): void {
  if (!acrValues && !amrValues) return;
  const isStrong =
    acrValues?.some((value) => value === acr) || claimTexts(amr).some((value) => amrValues?.includes(value));
  if (!isStrong) {
    throw new SignInRefused(
      'authentication_too_weak',
      'neither acr nor amr is one that the settings require',
    );
  }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

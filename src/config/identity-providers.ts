import { isUrl } from './is-url.js';
import { isLoopbackHost } from './loopback.js';
import { OPERATOR_ROLES, type OperatorRole } from './operator-role.js';

const AUDIENCES = ['users', 'operators'] as const;
const ACCOUNT_RULES = ['linked', 'verified_email', 'create'] as const;
const PROVIDERS_MAX = 5;

/** An OpenID Connect provider that people sign in through (contract §15). */
export interface IdentityProvider {
  id: string;
  label: string;
  issuer: URL;
  clientId: string;
  clientSecret: string;
  audience: readonly (typeof AUDIENCES)[number][];
  /** How a person without a linked account gets one. */
  accounts: (typeof ACCOUNT_RULES)[number];
  /** The claim that makes somebody an operator, and the role for each of its values. */
  roleClaim?: string;
  roles: ReadonlyMap<string, OperatorRole>;
  scope: string;
}

/** Reads IDENTITY_PROVIDERS; throws an Error that says what is wrong, without any value. */
export function parseIdentityProviders(text: string): IdentityProvider[] {
  const list = parseJson(text);
  if (!Array.isArray(list) || list.length === 0 || list.length > PROVIDERS_MAX) {
    throw new Error(`must be a JSON array of 1 to ${PROVIDERS_MAX} providers`);
  }
  const providers = list.map((entry, n) => providerOf(entry, n + 1));
  if (new Set(providers.map(({ id }) => id)).size < providers.length) {
    throw new Error('must give each provider an id of its own');
  }
  return providers;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new Error('must be JSON');
  }
}

const MEMBERS = [
  ...['id', 'label', 'issuer', 'client_id', 'client_secret', 'audience', 'accounts'],
  ...['role_claim', 'roles', 'scope'],
];

function providerOf(entry: unknown, n: number): IdentityProvider {
  const refuse = (rule: string): never => {
    throw new Error(`provider ${n}: ${rule}`);
  };
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) return refuse('must be an object');
  const members = entry as Record<string, unknown>;
  const unknown = Object.keys(members).find((name) => !MEMBERS.includes(name));
  if (unknown !== undefined) refuse('has a member that is not known');
  const text = (name: string, pattern: RegExp, rule: string): string => {
    const value = members[name];
    return typeof value === 'string' && pattern.test(value) ? value : refuse(`${name} must be ${rule}`);
  };
  const printable = /^[\x21-\x7e]{1,1024}$/;
  const issuer = issuerIn(members.issuer) ?? refuse('issuer must be an https URL without query and fragment');
  const audience = members.audience;
  if (
    !Array.isArray(audience) ||
    audience.length === 0 ||
    !audience.every((one) => isOneOf(AUDIENCES, one))
  ) {
    return refuse('audience must be an array of "users" and "operators"');
  }
  const accounts = members.accounts;
  if (!isOneOf(ACCOUNT_RULES, accounts)) return refuse('accounts must be linked, verified_email or create');
  const roleClaim =
    members.role_claim === undefined ? undefined : text('role_claim', /^.{1,200}$/, 'the name of a claim');
  const roles = rolesIn(members.roles) ?? refuse('roles must map values to viewer, support or admin');
  if ((roleClaim !== undefined) !== roles.size > 0) refuse('role_claim and roles belong together');
  if (roleClaim !== undefined && !audience.includes('operators')) {
    refuse('role_claim is for providers with "operators" in their audience');
  }
  const scope =
    members.scope === undefined
      ? 'openid email profile'
      : text('scope', /^(?=.*\bopenid\b)[\x21\x23-\x5b\x5d-\x7e ]{1,200}$/, 'scopes that include openid');
  return {
    id: text('id', /^[a-z0-9-]{1,32}$/, '1 to 32 of a-z, 0-9 and -'),
    label: text('label', /^[^\p{C}]{1,60}$/u, '1 to 60 characters'),
    issuer,
    clientId: text('client_id', printable, 'printable ASCII characters without spaces'),
    clientSecret: text('client_secret', printable, 'printable ASCII characters without spaces'),
    audience,
    accounts,
    roleClaim,
    roles,
    scope,
  };
}

function issuerIn(value: unknown): URL | undefined {
  if (typeof value !== 'string' || !isUrl(value)) return undefined;
  const url = new URL(value);
  const secure = url.protocol === 'https:' || (url.protocol === 'http:' && isLoopbackHost(url.hostname));
  return secure && !url.search && !url.hash && !url.username && !url.password ? url : undefined;
}

function rolesIn(value: unknown): Map<string, OperatorRole> | undefined {
  if (value === undefined) return new Map();
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  const entries = Object.entries(value);
  return entries.every((entry): entry is [string, OperatorRole] => isOneOf(OPERATOR_ROLES, entry[1]))
    ? new Map(entries)
    : undefined;
}

const isOneOf = <T extends string>(allowed: readonly T[], value: unknown): value is T =>
  allowed.includes(value as T);

import { isUrl, isLoopbackHost } from './is-url.js';
import { OPERATOR_ROLES, type OperatorRole } from './operator-role.js';
import { providerKeyIn, providerKeyInFile, type ProviderKey } from './provider-key.js';

const AUDIENCES = ['users', 'operators'] as const;
const ACCOUNT_RULES = ['linked', 'verified_email', 'create'] as const;
const AUTH_METHODS = ['client_secret_basic', 'client_secret_post', 'private_key_jwt'] as const;
const ASSERTION_AUDIENCES = ['issuer', 'token_endpoint'] as const;
const STEP_UPS = ['max_age=0', 'max_age=1', 'prompt=login'] as const;
const RESPONSE_MODES = ['form_post'] as const;
const AUTH_TIMES = ['optional'] as const;
const LOGOUT_PARAMETERS = ['logout_uri'] as const;
const PROVIDERS_MAX = 5;
const VALUES_MAX = 20;

/** An OpenID Connect provider that people sign in through (contract §15). */
export interface IdentityProvider {
  id: string;
  label: string;
  issuer: URL;
  clientId: string;
  /** Undefined with a private key. */
  clientSecret?: string;
  /** When a secret ends that is a JWT, as Apple's are. */
  clientSecretEndsAt?: Date;
  /** How this service authenticates at the token endpoint; undefined: by Basic or in the body, as the provider's metadata say. */
  tokenEndpointAuthMethod?: (typeof AUTH_METHODS)[number];
  /** The key of `private_key_jwt`, and whom its assertions are for. */
  privateKey?: ProviderKey;
  assertionAudience?: (typeof ASSERTION_AUDIENCES)[number];
  audience: readonly (typeof AUDIENCES)[number][];
  /** How a person without a linked account gets one. */
  accounts: (typeof ACCOUNT_RULES)[number];
  /** Whether addresses count as verified that come without `email_verified`: all, or those of these domains. */
  trustEmail?: true | readonly string[];
  /** The claim that makes someone an operator, or the path to it, and the role for each of its values. */
  roleClaim?: string;
  roles: ReadonlyMap<string, OperatorRole>;
  scope: string;
  /** How it is asked to authenticate someone again; undefined: `max_age=0`. */
  stepUp?: (typeof STEP_UPS)[number];
  /** Of people who are no operators, an answer without `auth_time` counts as a recent login; undefined: it does not. */
  authTime?: (typeof AUTH_TIMES)[number];
  /** How its answer comes to the callback; undefined: in the query. */
  responseMode?: (typeof RESPONSE_MODES)[number];
  /** How it is told where to return to after a logout; undefined: by `post_logout_redirect_uri`. */
  logoutRedirectParameter?: (typeof LOGOUT_PARAMETERS)[number];
  /** What is asked for as `acr_values`; one of them has to come back as `acr`, or one of `amrValues` in `amr`. */
  acrValues?: readonly string[];
  amrValues?: readonly string[];
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
  ...['token_endpoint_auth_method', 'private_key', 'private_key_file', 'assertion_audience'],
  ...['trust_email', 'role_claim', 'roles', 'scope', 'step_up', 'acr_values', 'amr_values'],
  ...['auth_time', 'response_mode', 'logout_redirect_parameter'],
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
  const oneOf = <T extends string>(name: string, allowed: readonly T[]): T | undefined => {
    const value = members[name];
    if (value === undefined || isOneOf(allowed, value)) return value;
    return refuse(`${name} must be one of ${allowed.join(', ')}`);
  };
  const valuesIn = (name: string): string[] | undefined => {
    const value = members[name];
    return value === undefined || isListOf(/^[\x21-\x7e]{1,200}$/, value)
      ? value
      : refuse(`${name} must be an array of 1 to ${VALUES_MAX} values without spaces`);
  };
  const printable = /^[\x21-\x7e]{1,1024}$/;
  if (typeof members.issuer === 'string' && /[{}]/.test(members.issuer)) {
    refuse('issuer is a template: put the id of your tenant in place of what is in braces');
  }
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
  const trustEmail = members.trust_email;
  if (trustEmail !== undefined && trustEmail !== true && !isListOf(DOMAIN, trustEmail)) {
    return refuse(`trust_email must be true or an array of 1 to ${VALUES_MAX} domains`);
  }
  const tokenEndpointAuthMethod = oneOf('token_endpoint_auth_method', AUTH_METHODS);
  const hasKey = tokenEndpointAuthMethod === 'private_key_jwt';
  if (!hasKey && ['private_key', 'private_key_file', 'assertion_audience'].some((name) => name in members)) {
    refuse('private_key, private_key_file and assertion_audience are for private_key_jwt');
  }
  if (hasKey && 'client_secret' in members) refuse('client_secret is not used with private_key_jwt');
  const clientSecret = hasKey
    ? undefined
    : text('client_secret', printable, 'printable ASCII characters without spaces');
  return {
    id: text('id', /^[a-z0-9-]{1,32}$/, '1 to 32 of a-z, 0-9 and -'),
    label: text('label', /^[^\p{C}]{1,60}$/u, '1 to 60 characters'),
    issuer,
    clientId: text('client_id', printable, 'printable ASCII characters without spaces'),
    clientSecret,
    clientSecretEndsAt: clientSecret === undefined ? undefined : endOfJwt(clientSecret),
    tokenEndpointAuthMethod,
    privateKey: hasKey ? keyIn(members, refuse) : undefined,
    assertionAudience: oneOf('assertion_audience', ASSERTION_AUDIENCES),
    audience,
    accounts,
    trustEmail: Array.isArray(trustEmail) ? trustEmail.map((domain) => domain.toLowerCase()) : trustEmail,
    roleClaim,
    roles,
    scope,
    stepUp: oneOf('step_up', STEP_UPS),
    authTime: oneOf('auth_time', AUTH_TIMES),
    responseMode: oneOf('response_mode', RESPONSE_MODES),
    logoutRedirectParameter: oneOf('logout_redirect_parameter', LOGOUT_PARAMETERS),
    acrValues: valuesIn('acr_values'),
    amrValues: valuesIn('amr_values'),
  };
}

function keyIn(
  { private_key: key, private_key_file: file }: Record<string, unknown>,
  refuse: (rule: string) => never,
): ProviderKey {
  const kinds = 'an RSA key of 2048 bits or more, an EC or an Ed25519 key, as PEM or JWK';
  if ((key === undefined) === (file === undefined)) {
    return refuse('private_key_jwt needs either private_key or private_key_file');
  }
  if (file === undefined) return providerKeyIn(key) ?? refuse(`private_key must be ${kinds}`);
  const found = typeof file === 'string' ? providerKeyInFile(file) : undefined;
  return found ?? refuse(`private_key_file must name a file that can be read, with ${kinds}`);
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

// A domain, not an address; compared without regard to case.
const DOMAIN = /^(?=.{1,253}$)[a-z0-9-]+(\.[a-z0-9-]+)+$/i;

const isListOf = (pattern: RegExp, value: unknown): value is string[] =>
  Array.isArray(value) &&
  value.length > 0 &&
  value.length <= VALUES_MAX &&
  value.every((one) => typeof one === 'string' && pattern.test(one));

const isOneOf = <T extends string>(allowed: readonly T[], value: unknown): value is T =>
  allowed.includes(value as T);

/** The `exp` of a text that is a signed JWT (RFC 7519); undefined for any other text, and for one without an end. Checks no signature. */
function endOfJwt(text: string): Date | undefined {
  const [header, payload] = /^([\w-]+)\.([\w-]+)\.[\w-]+$/.exec(text)?.slice(1).map(objectIn) ?? [];
  if (typeof header?.alg !== 'string' || typeof payload?.exp !== 'number') return undefined;
  const end = new Date(payload.exp * 1000);
  return Number.isNaN(end.getTime()) ? undefined : end;
}

function objectIn(part: string): Record<string, unknown> | undefined {
  try {
    const found: unknown = JSON.parse(Buffer.from(part, 'base64url').toString());
    return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}

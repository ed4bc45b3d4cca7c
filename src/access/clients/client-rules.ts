import type { ScopeEntity } from '#access/scopes/scope.entity.js';
import type { Environment } from '#access/users/accounts/environment.js';
import {
  usesKeys,
  type AuthMethod,
  type ClientType,
  type GrantType,
  type SecurityProfile,
} from './client.entity.js';
import { keySetViolation, type JwkSet } from './keys/jwk-set.js';
import { redirectUriViolation } from './redirect-uri.js';
import { INTROSPECTION_SCOPE } from './resources/introspection-scope.js';
import { violation, type Violation, type Violations } from '#platform/http/problems/violation.js';

/** Contract §12: the old secret stays valid for a day after a rotation, so that it can be replaced everywhere. */
export const DEFAULT_SECRET_OVERLAP_SECONDS = 86_400;

/** Contract §2, in seconds. */
export const ACCESS_TOKEN_LIFETIME = { min: 60, max: 36_000 };

// Contract §19: the admin API has no environments.
const NEVER_IN_A_SANDBOX = ['admin:read', 'admin:write'];

/** The client as it would be after the change. */
export interface ClientShape {
  type: ClientType;
  grantTypes: GrantType[];
  scopes: string[];
  optionalScopes: string[];
  purposes: string[];
  redirectUris: string[];
  companyService: boolean;
  tokenEndpointAuthMethod: AuthMethod | null;
  jwks: JwkSet | null;
  jwksUri: string | null;
  resourceIndicators: string[];
  requirePkce: boolean;
  requirePushedAuthorizationRequests: boolean;
  dpopBoundAccessTokens: boolean;
  securityProfile: SecurityProfile | null;
  environment: Environment;
}

/** A redirect URI to register, or to remove. */
export interface RedirectUriChange {
  action: 'add' | 'remove';
  uri: string;
}

/** The redirect URIs of a client after a change. */
export const redirectUrisAfter = (
  { redirectUris }: Pick<ClientShape, 'redirectUris'>,
  { action, uri }: RedirectUriChange,
): string[] => [...redirectUris.filter((each) => each !== uri), ...(action === 'add' ? [uri] : [])];

/** Whether the client has a scope for operators. */
export const hasOperatorScope = (
  { scopes }: Pick<ClientShape, 'scopes'>,
  catalogue: ScopeEntity[],
): boolean => catalogue.some(({ name, audience }) => audience === 'operator' && scopes.includes(name));

/**
 * What is wrong with a client, by wire member; empty if nothing is (contract §2). `purposes`: the names in the catalogue of purposes, as far as
 * the client declares them.
 */
export function clientViolations(
  client: ClientShape,
  catalogue: ScopeEntity[],
  purposes: readonly string[],
): Violations {
  const violations: Violations = {};
  const add = (member: string, found: Violation) => {
    (violations[member] ??= []).push(found);
  };
  const usesCodes = client.grantTypes.includes('authorization_code');
  if (client.grantTypes.includes('refresh_token') && !usesCodes) {
    add('grant_types', violation('refresh_without_code'));
  }
  if (client.type === 'public' && client.grantTypes.includes('client_credentials')) {
    add('grant_types', violation('public_without_secret'));
  }
  if (client.environment === 'sandbox') {
    for (const name of NEVER_IN_A_SANDBOX) {
      if (client.scopes.includes(name)) add('scopes', violation('sandbox_and_scope', { scope: name }));
    }
  }
  if (usesCodes && client.redirectUris.length === 0) {
    add('redirect_uris', violation('no_redirect_uri'));
  }
  client.redirectUris.forEach((uri, index) => {
    const reason = redirectUriViolation(uri, client.type);
    // Named by position: an error text must not echo what was sent.
    if (reason) add('redirect_uris', violation('refused_redirect_uri', { place: index + 1, reason }));
  });
  const audiences = new Map(catalogue.map((scope) => [scope.name, scope.audience]));
  client.scopes.forEach((name, index) => {
    if (!audiences.has(name)) add('scopes', violation('unknown_scope', { place: index + 1 }));
  });
  client.optionalScopes.forEach((name, index) => {
    if (!client.scopes.includes(name)) {
      add('optional_scopes', violation('not_of_the_client', { place: index + 1 }));
    }
  });
  client.purposes.forEach((name, index) => {
    if (!purposes.includes(name)) add('purposes', violation('unknown_purpose', { place: index + 1 }));
  });
  if (client.type === 'public' && client.tokenEndpointAuthMethod !== null) {
    if (client.tokenEndpointAuthMethod !== 'none') {
      add('token_endpoint_auth_method', violation('not_for_public_client'));
    }
  } else if (client.tokenEndpointAuthMethod === 'none') {
    add('token_endpoint_auth_method', violation('only_for_public_client'));
  }
  if (usesKeys(client) && client.jwks === null && client.jwksUri === null) {
    add('jwks', violation('no_keys'));
  }
  const wrongKeys = typeof client.jwks === 'object' && client.jwks !== null && keySetViolation(client.jwks);
  if (wrongKeys) add('jwks', wrongKeys);
  if (client.jwks !== null && client.jwksUri !== null) add('jwks_uri', violation('keys_and_address'));
  if (client.resourceIndicators.length > 0 && !client.scopes.includes(INTROSPECTION_SCOPE)) {
    add('resource_indicators', violation('needless_resource_indicators', { scope: INTROSPECTION_SCOPE }));
  }
  for (const member of lackingForProfile(client)) add(member, violation('required_by_profile'));
  const operatorScope = client.scopes.find((name) => audiences.get(name) === 'operator');
  if (client.companyService && !operatorScope) {
    add('company_service', violation('needless_company_service'));
  }
  if (operatorScope) {
    if (client.type === 'public') add('scopes', violation('scope_of_confidential', { scope: operatorScope }));
    if (client.grantTypes.some((grantType) => grantType !== 'client_credentials')) {
      add('grant_types', violation('only_client_credentials', { scope: operatorScope }));
    }
  }
  return violations;
}

/** What a client with a profile lacks, by wire member (FAPI 2.0 Security Profile §5.3.2.1 and §5.3.2.2). */
function lackingForProfile(client: ClientShape): string[] {
  if (client.securityProfile === null) return [];
  const needed = {
    security_profile: client.type === 'confidential',
    token_endpoint_auth_method: client.type === 'public' || usesKeys(client),
    require_pkce: client.requirePkce,
    require_pushed_authorization_requests: client.requirePushedAuthorizationRequests,
    dpop_bound_access_tokens: client.dpopBoundAccessTokens,
  };
  return Object.entries(needed).flatMap(([member, isThere]) => (isThere ? [] : [member]));
}

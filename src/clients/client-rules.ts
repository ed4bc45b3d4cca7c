import type { ScopeEntity } from '../scopes/scope.entity.js';
import type { Environment } from '../users/accounts/environment.js';
import type { ClientType, GrantType } from './client.entity.js';
import { redirectUriError } from './redirect-uri.js';

/** Contract §12: for a day after a rotation, the secret can be changed wherever it is used. */
export const DEFAULT_SECRET_OVERLAP_SECONDS = 86_400;

// Contract §19: the admin API knows no environments.
const NEVER_IN_A_SANDBOX = ['admin:read', 'admin:write'];

/** The client as it would be after the change. */
export interface ClientShape {
  type: ClientType;
  grantTypes: GrantType[];
  scopes: string[];
  redirectUris: string[];
  trusted: boolean;
  companyService: boolean;
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

/** What is wrong with a client, by wire member; empty if nothing is (contract §2). */
export function clientErrors(client: ClientShape, catalogue: ScopeEntity[]): Record<string, string[]> {
  const errors: Record<string, string[]> = {};
  const add = (member: string, error: string | undefined) => {
    if (error) (errors[member] ??= []).push(error);
  };
  const usesCodes = client.grantTypes.includes('authorization_code');
  if (client.grantTypes.includes('refresh_token') && !usesCodes) {
    add('grant_types', 'refresh_token requires authorization_code');
  }
  if (client.type === 'public' && client.grantTypes.includes('client_credentials')) {
    add('grant_types', 'a public client cannot authenticate, so it cannot use client_credentials');
  }
  if (client.type === 'public' && client.trusted) add('trusted', 'only a confidential client can be trusted');
  if (client.environment === 'sandbox') {
    if (client.trusted) add('trusted', 'a client in a sandbox is never trusted');
    for (const name of NEVER_IN_A_SANDBOX) {
      if (client.scopes.includes(name)) add('scopes', `a client in a sandbox must not hold ${name}`);
    }
  }
  if (usesCodes && client.redirectUris.length === 0) {
    add('redirect_uris', 'must contain at least one URI for authorization_code');
  }
  client.redirectUris.forEach((uri, index) => {
    const error = redirectUriError(uri, client.type);
    // Named by position: an error text must not echo what was sent.
    if (error) add('redirect_uris', `URI ${index + 1} ${error}`);
  });
  const audiences = new Map(catalogue.map((scope) => [scope.name, scope.audience]));
  client.scopes.forEach((name, index) => {
    if (!audiences.has(name)) add('scopes', `scope ${index + 1} is not in the catalogue`);
  });
  const operatorScope = client.scopes.find((name) => audiences.get(name) === 'operator');
  if (client.companyService && !operatorScope) {
    add('company_service', 'is only for a client with operator scopes');
  }
  if (operatorScope) {
    if (client.type === 'public') add('scopes', `${operatorScope} requires a confidential client`);
    if (client.grantTypes.some((grantType) => grantType !== 'client_credentials')) {
      add('grant_types', `a client with ${operatorScope} may use only client_credentials`);
    }
  }
  return errors;
}

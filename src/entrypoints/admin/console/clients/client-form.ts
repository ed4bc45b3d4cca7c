import { isDeepStrictEqual } from 'node:util';
import type { ClientShape } from '#access/clients/client-rules.js';
import { AUTH_METHODS, GRANT_TYPES, type ClientEntity } from '#access/clients/client.entity.js';
import { CLIENT_FORM, type ClientFormValues } from '#access/clients/client.resource.js';
import { FORM_KINDS, linesIn } from '#platform/http/resources/form-field.js';
import type { JwkSet } from '#access/clients/keys/jwk-set.js';
import type { Form } from '#platform/http/forms/form.js';

/** The values of the form for a new client, whose owner is entered as an email or an id. */
export type NewClientFields = ClientFormValues & { owner: string };

export const emptyClientFields = (owner = ''): NewClientFields => ({
  ...CLIENT_FORM.empty(),
  grant_types: ['authorization_code'],
  owner,
});

export const newClientFieldsIn = (form: Form): NewClientFields => ({
  ...CLIENT_FORM.in(form),
  owner: form.get('owner')?.trim() ?? '',
});

/** The client as it would be according to the form, for rules that look at several fields at once. */
export const clientShapeOf = (fields: ClientFormValues): ClientShape => ({
  type: fields.type === 'public' ? 'public' : 'confidential',
  grantTypes: GRANT_TYPES.filter((grantType) => fields.grant_types.includes(grantType)),
  scopes: fields.scopes,
  purposes: fields.purposes,
  optionalScopes: linesIn(fields.optional_scopes),
  redirectUris: linesIn(fields.redirect_uris),
  companyService: fields.company_service,
  environment: fields.environment === 'sandbox' ? 'sandbox' : 'live',
  tokenEndpointAuthMethod:
    AUTH_METHODS.find((method) => method === fields.token_endpoint_auth_method) ?? null,
  jwks: FORM_KINDS.json.member(fields.jwks) as JwkSet | null,
  jwksUri: fields.jwks_uri.trim() || null,
});

/**
 * Whether a change gives the client more power, or someone the power of the client: redirect URIs, grant types, becoming a company
 * service, and how it authenticates.
 */
export function clientChangeGivesPower(client: ClientEntity, fields: ClientFormValues): boolean {
  const { redirectUris, grantTypes, ...shape } = clientShapeOf(fields);
  return (
    redirectUris.some((uri) => !client.redirectUris.includes(uri)) ||
    grantTypes.some((grantType) => !client.grantTypes.includes(grantType)) ||
    (fields.company_service && !client.companyService) ||
    !isDeepStrictEqual(credentialsOf(shape), credentialsOf(client))
  );
}

const credentialsOf = ({
  tokenEndpointAuthMethod,
  jwks,
  jwksUri,
}: Pick<ClientShape, 'tokenEndpointAuthMethod' | 'jwks' | 'jwksUri'>) => ({
  tokenEndpointAuthMethod,
  jwks,
  jwksUri,
});

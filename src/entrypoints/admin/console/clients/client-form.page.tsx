import {
  GRANT_TYPES,
  type ClientEntity,
  AUTH_METHODS,
  SECURITY_PROFILES,
} from '#access/clients/client.entity.js';
import { CLIENT_FORM, type ClientFormValues } from '#access/clients/client.resource.js';
import { SelectField, TextField, type Option, type FieldErrors } from '#platform/web/forms/field.js';
import type { PurposeEntity } from '#access/scopes/purposes/purpose.entity.js';
import type { ScopeEntity } from '#access/scopes/scope.entity.js';
import { ConsoleForm } from '../pages/console-form.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { CLIENTS_PATH, clientPath, aboutClient } from './client-layout.js';
import { isDeepStrictEqual } from 'node:util';
import type { ClientShape } from '#access/clients/client-rules.js';
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
  resourceIndicators: linesIn(fields.resource_indicators),
  requirePkce: fields.require_pkce,
  requirePushedAuthorizationRequests: fields.require_pushed_authorization_requests,
  dpopBoundAccessTokens: fields.dpop_bound_access_tokens,
  securityProfile: SECURITY_PROFILES.find((profile) => profile === fields.security_profile) ?? null,
});

/**
 * Whether a change gives the client more power, or someone the power of the client: redirect URIs, grant types, becoming a company
 * service, how it authenticates, and the resources whose tokens it sees.
 */
export function clientChangeGivesPower(client: ClientEntity, fields: ClientFormValues): boolean {
  const { redirectUris, grantTypes, resourceIndicators, ...shape } = clientShapeOf(fields);
  return (
    redirectUris.some((uri) => !client.redirectUris.includes(uri)) ||
    grantTypes.some((grantType) => !client.grantTypes.includes(grantType)) ||
    resourceIndicators.some((uri) => !client.resourceIndicators.includes(uri)) ||
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

const GRANT_TYPE_LABELS: Record<(typeof GRANT_TYPES)[number], string> = {
  authorization_code: 'Authorization code with refresh tokens: users log in and consent',
  client_credentials: 'Client credentials: it acts on its own behalf',
  refresh_token: 'Refresh tokens: always together with authorization code',
};

const AFTER_NAME = CLIENT_FORM.changeable.filter((name) => name !== 'name');

/** Omits the field for purposes if the catalogue has none. */
const asked = (names: typeof CLIENT_FORM.changeable, purposes: PurposeEntity[]) =>
  names.filter((name) => name !== 'purposes' || purposes.length > 0);

/** The form to create a client. */
export function newClientPage({
  fields,
  scopes,
  purposes,
  users,
  formId,
  errors,
}: {
  fields: NewClientFields;
  errors?: FieldErrors;
  scopes: ScopeEntity[];
  purposes: PurposeEntity[];
  /** The users offered as the owner. */
  users: Option[];
  formId: string;
}): ConsolePage {
  return {
    part: 'clients',
    title: 'Create client',
    above: [{ href: CLIENTS_PATH, label: 'Clients' }],
    children: (
      <ConsoleForm
        values={{ ...fields }}
        errors={errors}
        action={`${CLIENTS_PATH}/new`}
        submit="Create client"
        once={formId}
        cancel={CLIENTS_PATH}
      >
        {CLIENT_FORM.show(['name'])}
        <TextField
          name="owner"
          label="Owner"
          hint="The email or ID of the user or organisation that owns it. It cannot be changed later."
          offers={users}
        />
        {CLIENT_FORM.show(['environment', 'type', 'scopes'], { scopes: scopeOptions(scopes) })}
        {CLIENT_FORM.show(asked(AFTER_NAME, purposes), {
          grant_types: grantTypeOptions(fields),
          purposes: purposeOptions(purposes),
        })}
      </ConsoleForm>
    ),
  };
}

/** The field that asks what a switch to DPoP does to the tokens from before. */
const EARLIER_TOKENS = 'earlier_tokens';

/** Whether a change of a client switches it to DPoP and ends them, as its form says. */
export function endsEarlierTokens(form: Form, now: ClientFormValues, before: ClientFormValues): boolean {
  if (!now.dpop_bound_access_tokens || before.dpop_bound_access_tokens) return false;
  const answer = form.get(EARLIER_TOKENS);
  return answer === 'end' || (answer !== 'keep' && now.security_profile === 'fapi_2');
}

/** The form to edit a client. */
export function editClientPage({
  client,
  fields,
  purposes,
  errors,
}: {
  fields: ClientFormValues;
  purposes: PurposeEntity[];
  errors?: FieldErrors;
  client: ClientEntity;
}): ConsolePage {
  return aboutClient(client, {
    title: 'Edit client',
    children: (
      <ConsoleForm
        values={{ ...fields }}
        errors={errors}
        action={clientPath(client.id, 'edit')}
        hidden={CLIENT_FORM.shown(CLIENT_FORM.of(client))}
        submit="Save"
        cancel={clientPath(client.id)}
      >
        {CLIENT_FORM.show(asked(CLIENT_FORM.changeable, purposes), {
          grant_types: grantTypeOptions(fields),
          purposes: purposeOptions(purposes),
        })}
        {!client.dpopBoundAccessTokens && (
          <SelectField
            name={EARLIER_TOKENS}
            label="Tokens from before, if DPoP is switched on"
            hint="If they are kept, access tokens go on without a key to their end. If they are ended, users have to authorize the client again."
            options={[
              { value: '', label: 'End them with FAPI 2.0, otherwise keep them' },
              { value: 'end', label: 'End them' },
              { value: 'keep', label: 'Keep them' },
            ]}
          />
        )}
      </ConsoleForm>
    ),
  });
}

const grantTypeOptions = ({ grant_types: chosen }: ClientFormValues) =>
  GRANT_TYPES.filter((value) => value !== 'refresh_token' || chosen.includes(value)).map((value) => ({
    value,
    label: GRANT_TYPE_LABELS[value],
  }));

const purposeOptions = (purposes: PurposeEntity[]) =>
  purposes.map(({ name, words }) => ({ value: name, label: name, hint: words.en }));

/** Scopes for partners first. */
const scopeOptions = (scopes: ScopeEntity[]) =>
  [
    ...scopes.filter(({ audience }) => audience === 'partner'),
    ...scopes.filter(({ audience }) => audience !== 'partner'),
  ].map(({ name, description, audience }) => ({
    value: name,
    label: audience === 'operator' ? `${name} (for operators)` : name,
    hint: description,
  }));

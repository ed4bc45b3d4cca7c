import type { ClientShape } from '#access/clients/client-rules.js';
import { GRANT_TYPES, type ClientEntity } from '#access/clients/client.entity.js';
import { CLIENT_FORM, type ClientFormValues } from '#access/clients/client.resource.js';
import { linesIn } from '#platform/http/resources/form-field.js';
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
});

/** Whether a change gives the client more power: redirect URIs, grant types, or becoming a company service. */
export function clientChangeGivesPower(client: ClientEntity, fields: ClientFormValues): boolean {
  const { redirectUris, grantTypes } = clientShapeOf(fields);
  return (
    redirectUris.some((uri) => !client.redirectUris.includes(uri)) ||
    grantTypes.some((grantType) => !client.grantTypes.includes(grantType)) ||
    (fields.company_service && !client.companyService)
  );
}

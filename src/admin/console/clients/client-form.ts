import type { ClientShape } from '../../../clients/client-rules.js';
import { GRANT_TYPES, type ClientEntity } from '../../../clients/client.entity.js';
import type { Form } from '../../../http/forms/form.js';
import type { ClientChangesDto, NewClientDto } from '../../api/clients/admin-clients.dto.js';

/** The values of a client form. */
export interface ClientFields {
  name: string;
  type: string;
  grant_types: string[];
  scopes: string[];
  /** One per line. */
  redirect_uris: string;
  /** The id or email of a user. */
  owner: string;
  rate_limit: string;
  trusted: boolean;
  company_service: boolean;
  environment: string;
}

export const emptyClientFields = (owner = ''): ClientFields => ({
  name: '',
  type: 'confidential',
  grant_types: ['authorization_code'],
  scopes: [],
  redirect_uris: '',
  owner,
  rate_limit: '',
  trusted: false,
  company_service: false,
  environment: 'live',
});

export const clientFieldsOf = (client: ClientEntity): ClientFields => ({
  name: client.name,
  type: client.type,
  grant_types: client.grantTypes,
  scopes: client.scopes,
  redirect_uris: client.redirectUris.join('\n'),
  owner: client.ownerId,
  rate_limit: client.rateLimit?.toString() ?? '',
  trusted: client.trusted,
  company_service: client.companyService,
  environment: client.environment,
});

export const clientFieldsIn = (form: Form): ClientFields => ({
  name: form.get('name') ?? '',
  type: form.get('type') ?? '',
  grant_types: form.getAll('grant_types'),
  scopes: form.getAll('scopes'),
  redirect_uris: form.get('redirect_uris') ?? '',
  owner: form.get('owner')?.trim() ?? '',
  rate_limit: form.get('rate_limit')?.trim() ?? '',
  trusted: form.get('trusted') === 'true',
  company_service: form.get('company_service') === 'true',
  environment: form.get('environment') ?? 'live',
});

/** The members in the format of the admin API, to be validated by its rules. */
export const newClientMembers = (
  fields: ClientFields,
  ownerId: string,
): Record<keyof NewClientDto, unknown> => ({
  ...changedClientMembers(fields),
  type: fields.type,
  scopes: fields.scopes,
  owner_id: ownerId,
  environment: fields.environment,
});

export const changedClientMembers = (
  fields: ClientFields,
): Record<
  Exclude<keyof ClientChangesDto, 'type' | 'scopes' | 'owner_id' | 'environment' | 'enabled'>,
  unknown
> => ({
  name: fields.name,
  grant_types: fields.grant_types,
  redirect_uris: linesOf(fields.redirect_uris),
  rate_limit: fields.rate_limit === '' ? null : numberIn(fields.rate_limit),
  trusted: fields.trusted,
  company_service: fields.company_service,
});

/** The client as it would be according to the form, for rules that look at several fields at once. */
export const clientShapeOf = (fields: ClientFields): ClientShape => ({
  type: fields.type === 'public' ? 'public' : 'confidential',
  grantTypes: GRANT_TYPES.filter((grantType) => fields.grant_types.includes(grantType)),
  scopes: fields.scopes,
  redirectUris: linesOf(fields.redirect_uris),
  trusted: fields.trusted,
  companyService: fields.company_service,
  environment: fields.environment === 'sandbox' ? 'sandbox' : 'live',
});

/** Whether a change affects who receives users' data: redirect URIs, grant types, whether users are asked, and whose power it has. */
export function givesPower(client: ClientEntity, fields: ClientFields): boolean {
  const { redirectUris, grantTypes } = clientShapeOf(fields);
  return (
    redirectUris.some((uri) => !client.redirectUris.includes(uri)) ||
    grantTypes.some((grantType) => !client.grantTypes.includes(grantType)) ||
    (fields.trusted && !client.trusted) ||
    (fields.company_service && !client.companyService)
  );
}

const linesOf = (text: string): string[] =>
  text
    .split(/\r\n?|\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '');

const numberIn = (text: string): number | string => (/^\d{1,12}$/.test(text) ? Number(text) : text);

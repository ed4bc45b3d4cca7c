import { GRANT_TYPES, type ClientEntity } from '#access/clients/client.entity.js';
import { CLIENT_FORM, type ClientFormValues } from '#access/clients/client.resource.js';
import { TextField, type Option, type FieldErrors } from '#platform/web/forms/field.js';
import type { PurposeEntity } from '#access/scopes/purposes/purpose.entity.js';
import type { ScopeEntity } from '#access/scopes/scope.entity.js';
import { ConsoleForm } from '../pages/console-form.js';
import type { ConsolePage } from '../pages/console-layout.js';
import type { NewClientFields } from './client-form.js';
import { CLIENTS_PATH, clientPath, aboutClient } from './client-layout.js';

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

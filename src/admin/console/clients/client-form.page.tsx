import type { VNode } from 'preact';
import { GRANT_TYPES, type ClientEntity } from '../../../clients/client.entity.js';
import { Choices, TextArea, TextField, Tick } from '../../../web/forms/field.js';
import type { ScopeEntity } from '../../../scopes/scope.entity.js';
import type { FieldErrors } from '../form-attempt.js';
import { ConsoleForm } from '../pages/console-form.js';
import type { ConsolePage } from '../pages/console-layout.js';
import type { ClientFields } from './client-form.js';
import { CLIENTS_PATH, clientPath, aboutClient } from './client-layout.js';

interface FormProps {
  fields: ClientFields;
  errors?: FieldErrors;
}

const GRANT_TYPE_LABELS: Record<(typeof GRANT_TYPES)[number], string> = {
  authorization_code: 'Authorization code with refresh tokens: users log in and consent',
  client_credentials: 'Client credentials: it acts on its own behalf',
  refresh_token: 'Refresh tokens: always together with authorization code',
};

/** The form to create a client. */
export function newClientPage({
  fields,
  scopes,
  once,
  errors,
}: FormProps & { scopes: ScopeEntity[]; once: string }): ConsolePage {
  return {
    part: 'clients',
    title: 'Create client',
    withScript: true,
    above: [{ href: CLIENTS_PATH, label: 'Clients' }],
    children: (
      <ConsoleForm
        values={{ ...fields }}
        errors={errors}
        action={`${CLIENTS_PATH}/new`}
        submit="Create client"
        once={once}
        cancel={CLIENTS_PATH}
      >
        <NameField />
        <TextField
          name="owner"
          label="Owner"
          hint="The email or ID of the user or organisation that owns it. It cannot be changed later."
        />
        <Choices
          name="environment"
          label="Environment"
          hint="It cannot be changed later."
          type="radio"
          options={[
            { value: 'live', label: 'Live', hint: 'Its users are people, and their data are real.' },
            {
              value: 'sandbox',
              label: 'Sandbox',
              hint: 'Its users are invented drivers, whom the partner creates. It is never trusted.',
            },
          ]}
        />
        <Choices
          name="type"
          label="Type"
          hint="It cannot be changed later."
          type="radio"
          options={[
            {
              value: 'confidential',
              label: 'Confidential',
              hint: 'Runs on a server that can keep a secret.',
            },
            {
              value: 'public',
              label: 'Public',
              hint: 'A native or single-page app. It has no secret and uses PKCE.',
            },
          ]}
        />
        <Choices
          name="scopes"
          label="Scopes"
          hint="It cannot be changed later."
          type="checkbox"
          options={partnersFirst(scopes).map(({ name, description, audience }) => ({
            value: name,
            label: audience === 'operator' ? `${name} (for operators)` : name,
            hint: description,
          }))}
        />
        <ChangeableFields fields={fields} />
      </ConsoleForm>
    ),
  };
}

/** The form to edit a client. */
export function editClientPage({
  client,
  fields,
  errors,
}: FormProps & { client: ClientEntity }): ConsolePage {
  return aboutClient(client, {
    title: 'Edit client',
    children: (
      <ConsoleForm
        values={{ ...fields }}
        errors={errors}
        action={clientPath(client.id, 'edit')}
        submit="Save"
        cancel={clientPath(client.id)}
      >
        <NameField />
        <ChangeableFields fields={fields} />
      </ConsoleForm>
    ),
  });
}

const NameField = (): VNode => (
  <TextField name="name" label="Name" hint="Shown to users on the consent page." />
);

function ChangeableFields({ fields }: { fields: ClientFields }): VNode {
  return (
    <>
      <Choices
        name="grant_types"
        label="Grant types"
        type="checkbox"
        options={GRANT_TYPES.filter(
          (value) => value !== 'refresh_token' || fields.grant_types.includes(value),
        ).map((value) => ({ value, label: GRANT_TYPE_LABELS[value] }))}
      />
      <TextArea
        name="redirect_uris"
        label="Redirect URIs"
        hint="One per line: https, or http on a loopback address. They must match exactly."
      />
      <TextField
        name="rate_limit"
        label="Requests per hour"
        hint="For each of its users. Leave empty for the service default."
      />
      <Tick name="trusted" label="Trusted: the consent page is skipped" />
      <Tick
        name="company_service"
        label="Company service: it has scopes for operators, and no operator’s role limits it"
      />
    </>
  );
}

const partnersFirst = (scopes: ScopeEntity[]): ScopeEntity[] => [
  ...scopes.filter(({ audience }) => audience === 'partner'),
  ...scopes.filter(({ audience }) => audience !== 'partner'),
];

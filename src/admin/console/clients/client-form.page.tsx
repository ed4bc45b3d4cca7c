import type { VNode } from 'preact';
import { GRANT_TYPES, type ClientEntity } from '../../../clients/client.entity.js';
import type { ScopeEntity } from '../../../scopes/scope.entity.js';
import type { FieldErrors } from '../form-attempt.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { renderConsolePage } from '../pages/console-layout.js';
import { Choices, ConsoleForm, TextArea, TextField, Tick } from '../pages/form-fields.js';
import type { ClientFields } from './client-form.js';
import { CLIENTS_PATH, clientPath, renderClientPage } from './client-layout.js';

interface FormProps {
  layoutProps: UserLayoutProps;
  fields: ClientFields;
  csrfToken: string;
  errors?: FieldErrors;
}

const GRANT_TYPE_WORDS: Record<(typeof GRANT_TYPES)[number], string> = {
  authorization_code: 'Authorization code with refresh tokens: users log in and consent',
  client_credentials: 'Client credentials: it acts on its own behalf',
  refresh_token: 'Refresh tokens: always together with authorization code',
};

/** The form to create a client. */
export function newClientPage({
  layoutProps,
  fields,
  scopes,
  once,
  csrfToken,
  errors,
}: FormProps & { scopes: ScopeEntity[]; once: string }): string {
  return renderConsolePage({
    layoutProps,
    part: 'clients',
    title: 'Create client',
    withScript: true,
    above: [{ href: CLIENTS_PATH, label: 'Clients' }],
    children: (
      <ConsoleForm
        action={`${CLIENTS_PATH}/new`}
        csrfToken={csrfToken}
        errors={errors}
        submit="Create client"
        once={once}
        cancel={{ href: CLIENTS_PATH }}
      >
        <NameField fields={fields} errors={errors} />
        <TextField
          name="owner"
          label="Owner"
          hint="The email or ID of the user or organisation that owns it. It cannot be changed later."
          value={fields.owner}
          errors={errors}
        />
        <Choices
          name="type"
          label="Type"
          hint="It cannot be changed later."
          type="radio"
          values={[fields.type]}
          errors={errors}
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
          values={fields.scopes}
          errors={errors}
          options={partnersFirst(scopes).map(({ name, description, audience }) => ({
            value: name,
            label: audience === 'operator' ? `${name} (for operators)` : name,
            hint: description,
          }))}
        />
        <ChangeableFields fields={fields} errors={errors} />
      </ConsoleForm>
    ),
  });
}

/** The form to edit a client. */
export function editClientPage({
  layoutProps,
  client,
  fields,
  csrfToken,
  errors,
}: FormProps & { client: ClientEntity }): string {
  return renderClientPage({
    layoutProps,
    client,
    title: 'Edit client',
    children: (
      <ConsoleForm
        action={clientPath(client.id, 'edit')}
        csrfToken={csrfToken}
        errors={errors}
        submit="Save"
        cancel={{ href: clientPath(client.id) }}
      >
        <NameField fields={fields} errors={errors} />
        <ChangeableFields fields={fields} errors={errors} />
      </ConsoleForm>
    ),
  });
}

interface PartProps {
  fields: ClientFields;
  errors?: FieldErrors;
}

const NameField = ({ fields, errors }: PartProps): VNode => (
  <TextField
    name="name"
    label="Name"
    hint="Shown to users on the consent page."
    value={fields.name}
    errors={errors}
  />
);

function ChangeableFields({ fields, errors }: PartProps): VNode {
  return (
    <>
      <Choices
        name="grant_types"
        label="Grant types"
        type="checkbox"
        values={fields.grant_types}
        errors={errors}
        options={GRANT_TYPES.filter(
          (value) => value !== 'refresh_token' || fields.grant_types.includes(value),
        ).map((value) => ({ value, label: GRANT_TYPE_WORDS[value] }))}
      />
      <TextArea
        name="redirect_uris"
        label="Redirect URIs"
        hint="One per line: https, or http on a loopback address. They must match exactly."
        value={fields.redirect_uris}
        errors={errors}
      />
      <TextField
        name="rate_limit"
        label="Requests per hour"
        hint="For each of its users. Leave empty for the service default."
        value={fields.rate_limit}
        errors={errors}
      />
      <Tick
        name="trusted"
        label="Trusted: the consent page is skipped"
        checked={fields.trusted}
        errors={errors}
      />
    </>
  );
}

const partnersFirst = (scopes: ScopeEntity[]): ScopeEntity[] => [
  ...scopes.filter(({ audience }) => audience === 'partner'),
  ...scopes.filter(({ audience }) => audience !== 'partner'),
];

import type { VNode } from 'preact';
import { GRANT_TYPES, type ClientEntity } from '../../../clients/client.entity.js';
import type { ScopeEntity } from '../../../scopes/scope.entity.js';
import type { FieldErrors } from '../form-attempt.js';
import { renderConsolePage, type ConsoleFrame } from '../pages/console-layout.js';
import { Choices, ConsoleForm, TextArea, TextField, Tick } from '../pages/form-fields.js';
import type { ClientFields } from './client-form.js';
import { CLIENTS_PATH, clientPath, renderClientPage } from './client-frame.js';

interface FormProps {
  frame: ConsoleFrame;
  fields: ClientFields;
  csrfToken: string;
  errors?: FieldErrors;
}

const GRANT_TYPE_WORDS: Record<(typeof GRANT_TYPES)[number], string> = {
  authorization_code: 'Users sign in and agree (authorization code, with refresh tokens)',
  client_credentials: 'It acts in its own name (client credentials)',
  refresh_token: 'Refresh tokens (always go with authorization code)',
};

/** The form to register a client. */
export function newClientPage({
  frame,
  fields,
  scopes,
  csrfToken,
  errors,
}: FormProps & { scopes: ScopeEntity[] }): string {
  return renderConsolePage({
    frame,
    part: 'clients',
    title: 'Register a client',
    above: [{ href: CLIENTS_PATH, label: 'Clients' }],
    children: (
      <ConsoleForm
        action={`${CLIENTS_PATH}/new`}
        csrfToken={csrfToken}
        errors={errors}
        submit="Register"
        cancel={{ href: CLIENTS_PATH }}
      >
        <NameField fields={fields} errors={errors} />
        <TextField
          name="owner"
          label="Owner"
          hint="The e-mail address or id of the user or organisation that it belongs to. Fixed once the client is made."
          value={fields.owner}
          errors={errors?.['owner_id'] && { owner: errors['owner_id'] }}
        />
        <Choices
          name="type"
          label="Type"
          hint="Fixed once the client is made."
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
              hint: 'An app or a page in a browser. It has no secret and uses PKCE.',
            },
          ]}
        />
        <Choices
          name="scopes"
          label="Scopes"
          hint="Fixed once the client is made."
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

/** The form to change a client. */
export function editClientPage({
  frame,
  client,
  fields,
  csrfToken,
  errors,
}: FormProps & { client: ClientEntity }): string {
  return renderClientPage({
    frame,
    client,
    title: 'Change the client',
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
    hint="Users read it when they are asked to agree."
    value={fields.name}
    errors={errors}
  />
);

function ChangeableFields({ fields, errors }: PartProps): VNode {
  return (
    <>
      <Choices
        name="grant_types"
        label="How it gets tokens"
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
        hint="One a line: https, or http on a loopback address. Compared character by character."
        value={fields.redirect_uris}
        errors={errors}
      />
      <TextField
        name="rate_limit"
        label="Requests an hour"
        hint="For each of its users. Empty: the service's own limit."
        value={fields.rate_limit}
        errors={errors}
      />
      <Tick
        name="trusted"
        label="Trusted: users are not asked to agree"
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

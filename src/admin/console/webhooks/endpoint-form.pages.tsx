import type { VNode } from 'preact';
import type { ClientEntity } from '../../../clients/client.entity.js';
import type { EndpointEntity } from '../../../webhooks/endpoints/endpoint.entity.js';
import type { EventTypeEntity } from '../../../webhooks/event-types/event-type.entity.js';
import { clientPath, renderClientPage } from '../clients/client-layout.js';
import type { FieldErrors } from '../form-attempt.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { renderConsolePage } from '../pages/console-layout.js';
import { Choices, ConsoleForm, TextField } from '../pages/form-fields.js';
import type { EndpointFields } from './endpoint-form.js';
import { ENDPOINTS_PATH, endpointPath } from './endpoint-paths.js';

interface FormProps {
  layoutProps: UserLayoutProps;
  types: EventTypeEntity[];
  fields: EndpointFields;
  csrfToken: string;
  errors?: FieldErrors;
}

/** The form for adding an endpoint to a client. */
export function newEndpointPage({
  layoutProps,
  client,
  csrfToken,
  once,
  ...props
}: FormProps & { client: ClientEntity; once: string }): string {
  return renderClientPage({
    layoutProps,
    client,
    title: 'Add endpoint',
    withScript: true,
    children: (
      <ConsoleForm
        action={clientPath(client.id, 'endpoints/new')}
        csrfToken={csrfToken}
        errors={props.errors}
        submit="Add endpoint"
        once={once}
        cancel={{ href: `${ENDPOINTS_PATH}?client_id=${client.id}` }}
      >
        <Fields {...props} />
      </ConsoleForm>
    ),
  });
}

/** The form for editing an endpoint. */
export function editEndpointPage({
  layoutProps,
  endpoint,
  csrfToken,
  ...props
}: FormProps & { endpoint: EndpointEntity }): string {
  return renderConsolePage({
    layoutProps,
    part: 'endpoints',
    title: 'Edit endpoint',
    above: [
      { href: ENDPOINTS_PATH, label: 'Endpoints' },
      { href: endpointPath(endpoint.id), label: endpoint.url },
    ],
    children: (
      <ConsoleForm
        action={endpointPath(endpoint.id, 'edit')}
        csrfToken={csrfToken}
        errors={props.errors}
        submit="Save"
        cancel={{ href: endpointPath(endpoint.id) }}
      >
        <Fields {...props} />
      </ConsoleForm>
    ),
  });
}

function Fields({ types, fields, errors }: Pick<FormProps, 'types' | 'fields' | 'errors'>): VNode {
  return (
    <>
      <TextField name="url" label="URL" hint="A public https address." value={fields.url} errors={errors} />
      <TextField
        name="description"
        label="Description (optional)"
        value={fields.description}
        errors={errors}
      />
      <Choices
        name="event_types"
        label="Event types"
        hint="Those allowed by the client's scopes."
        type="checkbox"
        values={fields.event_types}
        errors={errors}
        options={types.map(({ name, description }) => ({ value: name, label: name, hint: description }))}
      />
    </>
  );
}

import type { VNode } from 'preact';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { TextArea, type FieldErrors } from '#platform/web/forms/field.js';
import { BatchFields } from '#events/webhooks/batches/batch-fields.js';
import { HEADERS_HINT } from '#events/webhooks/endpoints/endpoint-headers.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import {
  ENDPOINT_FORM,
  endpointShown,
  type EndpointFormValues,
} from '#events/webhooks/endpoints/endpoint-form.js';
import { CredentialFields } from '#events/webhooks/receiver-tokens/credential-fields.js';
import type { EventTypeEntity } from '#events/webhooks/event-types/event-type.entity.js';
import { clientPath, aboutClient } from '../clients/client-layout.js';
import { ConsoleForm } from '../pages/console-form.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { ENDPOINTS_PATH, endpointPath } from '../pages/resource-link.js';

interface FormProps {
  types: EventTypeEntity[];
  fields: EndpointFormValues;
  errors?: FieldErrors;
}

/** The form for adding an endpoint to a client. */
export function newEndpointPage({
  client,
  formId,
  types,
  fields,
  errors,
}: FormProps & { client: ClientEntity; formId: string }): ConsolePage {
  return aboutClient(client, {
    title: 'Add endpoint',
    children: (
      <ConsoleForm
        values={{ ...fields }}
        errors={errors}
        action={clientPath(client.id, 'endpoints/new')}
        submit="Add endpoint"
        once={formId}
        cancel={`${ENDPOINTS_PATH}?client_id=${client.id}`}
      >
        <Fields types={types} fields={fields} errors={errors} />
      </ConsoleForm>
    ),
  });
}

/** The form for editing an endpoint. */
export function editEndpointPage({
  endpoint,
  types,
  fields,
  errors,
}: FormProps & { endpoint: EndpointEntity }): ConsolePage {
  return {
    part: 'endpoints',
    title: 'Edit endpoint',
    above: [
      { href: ENDPOINTS_PATH, label: 'Endpoints' },
      { href: endpointPath(endpoint.id), label: endpoint.url },
    ],
    children: (
      <ConsoleForm
        values={{ ...fields }}
        errors={errors}
        action={endpointPath(endpoint.id, 'edit')}
        hidden={endpointShown(endpoint)}
        submit="Save"
        cancel={endpointPath(endpoint.id)}
      >
        <Fields types={types} fields={fields} errors={errors} endpoint={endpoint} />
      </ConsoleForm>
    ),
  };
}

function Fields({ types, fields, errors, endpoint }: FormProps & { endpoint?: EndpointEntity }): VNode {
  const options = types.map(({ name, description }) => ({ value: name, label: name, hint: description }));
  return (
    <>
      {ENDPOINT_FORM.show(ENDPOINT_FORM.changeable, { event_types: options })}
      <BatchFields />
      <TextArea name="headers" label="Headers (optional)" hint={HEADERS_HINT} spellcheck={false} />
      <CredentialFields values={fields} errors={errors} hasSecret={!!endpoint?.authentication} />
    </>
  );
}

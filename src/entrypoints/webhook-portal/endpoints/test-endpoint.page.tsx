import { SelectField, type FieldErrors } from '#platform/web/forms/field.js';
import { PageForm } from '#platform/web/forms/form.js';
import { Json } from '#platform/web/tables/json.js';
import type { EventTypeEntity } from '#events/webhooks/event-types/event-type.entity.js';
import { samplePayload } from '#events/webhooks/events/test-events.service.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { aboutEndpoint, endpointPath } from './about-endpoint.js';

export interface TestEndpointPageProps {
  endpoint: { id: string; url: string; enabled: boolean };
  eventTypes: EventTypeEntity[];
  /** The selected type. */
  chosen: string;
  errors?: FieldErrors;
}

/** Select an event type, see its sample, send it. */
export function testEndpointPage(props: TestEndpointPageProps): PortalPage {
  const { endpoint, eventTypes, chosen, errors } = props;
  return aboutEndpoint(endpoint.id, {
    title: 'Send test',
    children: (
      <>
        <p class="lead">
          <bdi>{endpoint.url}</bdi>
        </p>
        <p>
          A test is one signed request with the sample of an event type and an invented user. It is sent
          regardless of the types that the endpoint subscribes to
          {endpoint.enabled ? '' : ', and even though the endpoint is disabled'}. You see the response.
        </p>
        <PageForm
          action={endpointPath(endpoint.id, 'test')}
          values={{ type: chosen }}
          errors={errors}
          submit="Send test"
        >
          <SelectField
            id="event-type"
            name="type"
            label="Event type"
            options={eventTypes.map(({ name }) => ({ value: name, label: name }))}
          />
        </PageForm>
        <h2>Samples</h2>
        {eventTypes.map((type) => (
          <details open={type.name === chosen}>
            <summary>{type.name}</summary>
            <p>{type.description}</p>
            <Json text={samplePayload(type)} label={`Sample of ${type.name}`} />
          </details>
        ))}
      </>
    ),
  });
}

import type { VNode } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import type { EventTypeEntity } from '../../webhooks/event-types/event-type.entity.js';
import { samplePayload } from '../../webhooks/events/test-events.service.js';
import { SelectField } from '../../http/pages/field.js';
import { renderPortalPage, type PortalLayoutProps } from './portal-layout.js';

export interface TestEndpointPageProps {
  layoutProps: PortalLayoutProps;
  csrfToken: string;
  endpoint: { id: string; url: string; enabled: boolean };
  eventTypes: EventTypeEntity[];
  /** The selected type. */
  chosen: string;
  error?: string;
}

/** Select an event type, see its sample, send it. */
export function testEndpointPage(props: TestEndpointPageProps): string {
  const { layoutProps, csrfToken, endpoint, eventTypes, chosen, error } = props;
  const path = `/portal/endpoints/${endpoint.id}`;
  return renderPortalPage({
    layoutProps,
    title: 'Send test',
    part: 'endpoints',
    above: { href: path, label: 'Endpoint' },
    children: (
      <>
        <p class="lead">
          <bdi>{endpoint.url}</bdi>
        </p>
        <p>
          A test is one signed request with the sample of an event type and a made-up user. It is sent
          regardless of the types that the endpoint subscribes to
          {endpoint.enabled ? '' : ', and even though the endpoint is disabled'}. You see the response.
        </p>
        <form method="post" action={`${path}/test`}>
          <CsrfField token={csrfToken} />
          <SelectField
            id="event-type"
            name="type"
            label="Event type"
            value={chosen}
            error={error}
            options={eventTypes.map(({ name }) => ({ value: name, label: name }))}
          />
          <div class="actions actions-row">
            <button type="submit">Send test</button>
          </div>
        </form>
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

/** Formatted JSON; anything else is shown unchanged. */
export function Json({ text, label }: { text: string; label: string }): VNode {
  return (
    <pre tabIndex={0} role="region" aria-label={label}>
      <code>{pretty(text)}</code>
    </pre>
  );
}

function pretty(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

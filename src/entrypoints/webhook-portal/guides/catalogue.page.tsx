import { Json } from '#platform/web/tables/json.js';
import { samplePayload } from '#events/webhooks/events/test-events.service.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { TypeName } from '../frame/type-name.js';
import { currentVersion, type VersionedEventType } from '#events/webhooks/event-types/event-type.entity.js';

/** The event types that the client can receive, each with its description, scope and a sample. */
export const cataloguePage = (eventTypes: VersionedEventType[]): PortalPage => ({
  title: 'Event catalogue',
  part: 'catalogue',
  children: (
    <>
      <p class="lead">
        The events that your client can receive with its scopes. Every request is a POST of JSON with{' '}
        <code>id</code>, <code>type</code>, <code>timestamp</code>, <code>user_id</code> and <code>data</code>
        . The <code>id</code> is the event’s, and the same at each of your endpoints; the contents of{' '}
        <code>data</code> are those of the type’s schema, and may have more members. Where events are
        numbered, <code>sequence</code> grows by one with each event about the same thing.
      </p>
      <ul class="rows" role="list">
        {eventTypes.map((type) => (
          <li id={type.name}>
            <details class="measure-wide">
              <summary>
                <h2>
                  <TypeName name={type.name} />
                </h2>{' '}
                <span class="fine-print">{type.description}</span>
              </summary>
              <p class="entry-meta">
                Version {currentVersion(type)!.version}
                {type.resource !== null && ', numbered'}
                {type.scope === null ? (
                  '; no scope needed'
                ) : (
                  <>
                    , scope <code>{type.scope}</code>
                  </>
                )}
              </p>
              <h3>Sample</h3>
              <Json text={samplePayload(type)} label={`Sample of ${type.name}`} />
              <details>
                <summary>
                  Schema<span class="visually-hidden"> of {type.name}</span>
                </summary>
                <Json text={JSON.stringify(currentVersion(type)!.schema)} label={`Schema of ${type.name}`} />
              </details>
            </details>
          </li>
        ))}
      </ul>
    </>
  ),
});

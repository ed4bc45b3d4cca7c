import type { VNode } from 'preact';
import { LinkButton } from '#platform/web/forms/form.js';
import { AddressLink } from '#platform/web/tables/address-link.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import type { EndpointInList } from '#events/webhooks/endpoints/endpoint-health.js';
import { ENDPOINTS_PER_CLIENT } from '#events/webhooks/endpoints/endpoints.service.js';
import { EndpointState } from '#events/webhooks/endpoints/endpoint-state.js';
import { successRate, whyDisabled } from './endpoint-words.js';
import { endpointPath } from './about-endpoint.js';

const hasRoom = (endpoints: EndpointInList[]): boolean => endpoints.length < ENDPOINTS_PER_CLIENT;

/** The link to add an endpoint, unless the limit is reached; an empty list has its own. */
export const AddEndpoint = ({ endpoints }: { endpoints: EndpointInList[] }): VNode | null =>
  endpoints.length > 0 && hasRoom(endpoints) ? (
    <LinkButton href="/portal/endpoints/new">Add endpoint</LinkButton>
  ) : null;

/** The client's endpoints, or what to do without any. */
export const Endpoints = ({ endpoints }: { endpoints: EndpointInList[] }): VNode =>
  endpoints.length === 0 ? <NoEndpoints /> : <EndpointList endpoints={endpoints} />;

function NoEndpoints(): VNode {
  return (
    <div class="empty">
      <p>
        <strong>There are no endpoints yet.</strong>
      </p>
      <p>
        An endpoint is one of your URLs to which we send events as they happen. Add one, choose its event
        types, and send it a test.
      </p>
      <p>
        <LinkButton href="/portal/endpoints/new">Add endpoint</LinkButton>
      </p>
    </div>
  );
}

function EndpointList({ endpoints }: { endpoints: EndpointInList[] }): VNode {
  return (
    <>
      <div class="section-head">
        <h2>Endpoints</h2>
        <p class="muted">
          {hasRoom(endpoints)
            ? `${endpoints.length} of at most ${ENDPOINTS_PER_CLIENT}.`
            : `All ${ENDPOINTS_PER_CLIENT} endpoints are in use. Delete one to add another.`}
        </p>
      </div>
      <ul class="entries" role="list">
        {endpoints.map((endpoint) => (
          <Endpoint endpoint={endpoint} />
        ))}
      </ul>
    </>
  );
}

function Endpoint({ endpoint }: { endpoint: EndpointInList }): VNode {
  const reason = whyDisabled(endpoint);
  return (
    <li>
      <div class="entry-head">
        <h3>
          <AddressLink href={endpointPath(endpoint.id)} address={endpoint.url} />
        </h3>
        <EndpointState endpoint={endpoint} />
      </div>
      {endpoint.description && (
        <p class="entry-description">
          <bdi>{endpoint.description}</bdi>
        </p>
      )}
      {reason && <p class="field-error">{reason}</p>}
      <dl class="measures">
        <div>
          <dt>Success in 24 h</dt>
          <dd>{rateOf(endpoint)}</dd>
        </div>
        <div>
          <dt>Last attempt</dt>
          <dd>{endpoint.lastAttemptAt ? <RecentMoment at={endpoint.lastAttemptAt} /> : 'None yet'}</dd>
        </div>
        <div>
          <dt>Event types</dt>
          <dd>{endpoint.eventTypes.length}</dd>
        </div>
      </dl>
    </li>
  );
}

function rateOf({ delivered24h, failed24h }: EndpointInList): string {
  const rate = successRate({ delivered: delivered24h, failed: failed24h });
  if (rate === undefined) return 'Nothing sent';
  const all = delivered24h + failed24h;
  return `${rate} of ${all.toLocaleString('en-GB')} ${all === 1 ? 'attempt' : 'attempts'}`;
}

/** The names of event types as a list. */
export function TypeList({ names }: { names: string[] }): VNode {
  return (
    <ul class="type-list" role="list">
      {names.map((name) => (
        <li>
          <code>{name}</code>
        </li>
      ))}
    </ul>
  );
}

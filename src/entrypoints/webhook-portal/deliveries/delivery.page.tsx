import type { VNode } from 'preact';
import { Facts } from '#platform/web/tables/facts.js';
import { LinkButton, PostForm } from '#platform/web/forms/form.js';
import { Json } from '#platform/web/tables/json.js';
import { ExactMoment } from '#platform/web/tables/moment.js';
import type { DeliveryDetail } from '#events/webhooks/deliveries/delivery.js';
import { withQuery } from './delivery-query.js';
import { headersOf, inLines } from './sent-request.js';
import { Attempts, CurlCommand } from './attempts.js';
import { DeliverySummary } from '#events/webhooks/deliveries/delivery-summary.js';
import { PAYLOAD_HIDDEN, wasSent } from '#events/webhooks/deliveries/failure-messages.js';
import { Address } from '#platform/web/tables/address-link.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { TypeName } from '../frame/type-name.js';
import { endpointPath } from '../endpoints/about-endpoint.js';

export interface DeliveryPageProps {
  delivery: DeliveryDetail;
  /** The place in the list of deliveries that the user came from, as a query string. */
  place: string;
  now: Date;
}

// Longer than a lease, so that the page also waits for a running attempt.
const SOON_MS = 35_000;
const REFRESH_SECONDS = 2;

/** One delivery: its payload and all attempts. While an attempt is about to end, the page reloads itself. */
export function deliveryPage({ delivery, place, now }: DeliveryPageProps): PortalPage {
  const { nextAttemptAt, eventType, isTest } = delivery;
  const what = isTest ? 'Test' : 'Delivery';
  const isSoon = nextAttemptAt !== null && nextAttemptAt.getTime() - now.getTime() < SOON_MS;
  // The time of the next attempt is then the end of the lease; what is due only waits for its turn, as under a throttle.
  const isUnderWay = isSoon && nextAttemptAt > now;
  return {
    title: `${what}: ${eventType}`,
    heading: (
      <>
        {what}: <TypeName name={eventType} />
      </>
    ),
    part: 'deliveries',
    above: [{ href: withQuery('/portal/deliveries', place), label: 'Deliveries' }],
    refreshAfter: isSoon ? REFRESH_SECONDS : undefined,
    children: (
      <>
        <div data-live>
          <DeliverySummary delivery={delivery} isSoon={isSoon} isUnderWay={isUnderWay} />
        </div>
        <Resend delivery={delivery} place={place} />
        <div data-live>
          <DeliveryFacts delivery={delivery} />
          <Attempts delivery={delivery} />
        </div>
        <Payload delivery={delivery} />
        <div data-live>
          <Headers delivery={delivery} />
        </div>
      </>
    ),
  };
}

interface ResendProps {
  delivery: DeliveryDetail;
  place: string;
}

function Resend({ delivery, place }: ResendProps): VNode | null {
  const { id, endpointId, endpointState, isTest, payloadHidden } = delivery;
  if (payloadHidden === 'erased') return null;
  if (endpointState === 'deleted') {
    return <p class="fine-print">The endpoint was deleted, so this delivery cannot be resent.</p>;
  }
  if (endpointState === 'disabled' && !isTest) {
    return (
      <p class="fine-print">
        The endpoint is disabled. <a href={endpointPath(endpointId)}>Enable it</a> to resend this delivery.
      </p>
    );
  }
  return (
    <PostForm action={withQuery(`/portal/deliveries/${id}/resend`, place)} class="entry-actions">
      <button type="submit">Resend</button>
      <LinkButton look="quiet" href={endpointPath(endpointId, 'edit')}>
        Edit endpoint
      </LinkButton>
    </PostForm>
  );
}

function DeliveryFacts({ delivery }: { delivery: DeliveryDetail }): VNode {
  const { endpointState, endpointId, endpointUrl, finishedAt } = delivery;
  const url = <Address address={endpointUrl} />;
  return (
    <Facts
      facts={[
        [
          'Endpoint',
          endpointState === 'deleted' ? <>{url} (deleted)</> : <a href={endpointPath(endpointId)}>{url}</a>,
        ],
        ['Event type', <code>{delivery.eventType}</code>],
        ['Created', <ExactMoment at={delivery.createdAt} />],
        finishedAt !== null && ['Finished', <ExactMoment at={finishedAt} />],
        ['Delivery ID', <code>{delivery.id}</code>],
        ['Event ID', <code>{delivery.eventId}</code>],
      ]}
    />
  );
}

/** Shows the exact bytes that are sent and signed. The formatted version differs and is not meant for copying. */
function Payload({ delivery: { payload, payloadHidden, attemptList } }: { delivery: DeliveryDetail }): VNode {
  const isBatched = attemptList.some(({ batch }) => batch);
  return (
    <>
      <h2>Payload</h2>
      {payload === null ? (
        <p class="empty">{PAYLOAD_HIDDEN[payloadHidden ?? 'not_consented']}</p>
      ) : (
        <>
          <p class="hint" id="payload-hint">
            {isBatched
              ? 'Its part of the body of every request, exactly as it is sent.'
              : 'The body of every request, exactly as it is signed.'}
          </p>
          <pre data-copy="" tabIndex={0} role="region" aria-label="Payload" aria-describedby="payload-hint">
            <code>{payload}</code>
          </pre>
          <details>
            <summary>Formatted</summary>
            <Json text={payload} label="Formatted payload" />
          </details>
        </>
      )}
    </>
  );
}

/** The headers of the last attempt, and the request as a command. */
function Headers({ delivery }: { delivery: DeliveryDetail }): VNode | null {
  const { id, endpointState, attemptList, payloadHidden } = delivery;
  const last = attemptList.at(-1);
  if (!last || !wasSent(last)) return null;
  return (
    <>
      <h2>Request headers of the last attempt</h2>
      <pre tabIndex={0} role="region" aria-label="Request headers">
        <code>{inLines(headersOf(delivery, last))}</code>
      </pre>
      <CurlCommand delivery={delivery} attempt={last} />
      {payloadHidden === null && !last.batch && endpointState !== 'deleted' && (
        <p>
          <a href={`/portal/verify?delivery=${id}#checker`}>Check this signature</a>
        </p>
      )}
    </>
  );
}

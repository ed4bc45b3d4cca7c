import type { VNode } from 'preact';
import { formatMs } from '../../web/charts/numbers.js';
import { Facts } from '../../web/tables/facts.js';
import { LinkButton, PostForm } from '../../web/forms/form.js';
import { Json } from '../../web/tables/json.js';
import { ExactMoment } from '../../web/tables/moment.js';
import { State } from '../../web/tables/state.js';
import { requestHeaders, secondsOf } from '../../webhooks/deliveries/delivery-attempt.service.js';
import type { Attempt, DeliveryDetail } from '../../webhooks/deliveries/delivery.js';
import { withQuery } from '../delivery-query.js';
import { DeliveryStateBadge } from './delivery-rows.js';
import { adviceFor, CANCEL_REASONS, isSuccess, outcomeText, PAYLOAD_HIDDEN } from './failure-messages.js';
import type { PortalPage } from './portal-layout.js';
import { TypeName } from './type-name.js';

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
  return {
    title: `${what}: ${eventType}`,
    heading: (
      <>
        {what}: <TypeName name={eventType} />
      </>
    ),
    part: 'deliveries',
    above: { href: withQuery('/portal/deliveries', place), label: 'Deliveries' },
    refreshAfter: isSoon ? REFRESH_SECONDS : undefined,
    children: (
      <>
        <div data-live>
          <Summary delivery={delivery} isSoon={isSoon} />
        </div>
        <Resend delivery={delivery} place={place} />
        <div data-live>
          <DeliveryFacts delivery={delivery} />
          <Attempts attempts={delivery.attemptList} />
        </div>
        <Payload delivery={delivery} />
        <div data-live>
          <Headers delivery={delivery} />
        </div>
      </>
    ),
  };
}

function Summary({ delivery, isSoon }: { delivery: DeliveryDetail; isSoon: boolean }): VNode {
  const { state, cancelReason, payloadHidden, nextAttemptAt } = delivery;
  const last = delivery.attemptList.at(-1);
  const failed = last && !isSuccess(last);
  return (
    <div class={`outcome outcome-${state}`} role="status">
      <p class="outcome-line">
        <DeliveryStateBadge state={state} />
        {last ? (
          <strong>
            {outcomeText(last)} after {formatMs(last.durationMs)}
          </strong>
        ) : (
          <strong>{state === 'cancelled' ? 'Not sent' : 'Waiting for the response …'}</strong>
        )}
      </p>
      {failed && last.detail && <p>{last.detail}</p>}
      {failed && state !== 'delivered' && <p>{adviceFor(last)}</p>}
      {cancelReason && (
        <p>{payloadHidden === 'erased' ? PAYLOAD_HIDDEN.erased : CANCEL_REASONS[cancelReason]}</p>
      )}
      {state === 'pending' && nextAttemptAt && (
        <p>
          {isSoon ? (
            'The next attempt is running or about to start. This page refreshes automatically.'
          ) : (
            <>
              Next attempt: <ExactMoment at={nextAttemptAt} />
            </>
          )}
        </p>
      )}
      {last?.responseStart && <Answer attempt={last} />}
    </div>
  );
}

function Answer({ attempt }: { attempt: Attempt }): VNode {
  return (
    <>
      <p class="entry-label">Start of the response</p>
      <pre tabIndex={0} role="region" aria-label={`Start of the response to attempt ${attempt.number}`}>
        <code>{attempt.responseStart}</code>
      </pre>
    </>
  );
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
        The endpoint is disabled. <a href={`/portal/endpoints/${endpointId}`}>Enable it</a> to resend this
        delivery.
      </p>
    );
  }
  return (
    <PostForm action={withQuery(`/portal/deliveries/${id}/resend`, place)} class="entry-actions">
      <button type="submit">Resend</button>
      <LinkButton look="quiet" href={`/portal/endpoints/${endpointId}/edit`}>
        Edit endpoint
      </LinkButton>
    </PostForm>
  );
}

function DeliveryFacts({ delivery }: { delivery: DeliveryDetail }): VNode {
  const { endpointState, endpointId, endpointUrl, finishedAt } = delivery;
  const url = <bdi>{endpointUrl}</bdi>;
  return (
    <Facts
      facts={[
        [
          'Endpoint',
          endpointState === 'deleted' ? (
            <>{url} (deleted)</>
          ) : (
            <a href={`/portal/endpoints/${endpointId}`}>{url}</a>
          ),
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

function Attempts({ attempts }: { attempts: Attempt[] }): VNode {
  return (
    <>
      <h2>Attempts</h2>
      {attempts.length === 0 ? (
        <p class="empty">No attempts have finished yet.</p>
      ) : (
        <ol class="attempts" role="list" reversed>
          {[...attempts].reverse().map((attempt) => (
            <li>
              <p class="attempt-line">
                <State tone={isSuccess(attempt) ? 'good' : 'bad'}>#{attempt.number}</State>
                <strong>{outcomeText(attempt)}</strong>
                <span>after {formatMs(attempt.durationMs)}</span>
                <span class="attempt-time">
                  <ExactMoment at={attempt.attemptedAt} />
                </span>
              </p>
              {attempt.detail && <p>{attempt.detail}</p>}
              {attempt.responseStart && (
                <details>
                  <summary>
                    Response<span class="visually-hidden"> to attempt {attempt.number}</span>
                  </summary>
                  <Answer attempt={attempt} />
                </details>
              )}
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

/** Shows the exact bytes that are sent and signed. The formatted version differs from them and is not meant for copying. */
function Payload({ delivery: { payload, payloadHidden } }: { delivery: DeliveryDetail }): VNode {
  return (
    <>
      <h2>Payload</h2>
      {payload === null ? (
        <p class="empty">{PAYLOAD_HIDDEN[payloadHidden ?? 'not_consented']}</p>
      ) : (
        <>
          <p class="hint" id="payload-hint">
            The body of every request, exactly as it is signed.
          </p>
          <pre data-copy tabIndex={0} role="region" aria-label="Payload" aria-describedby="payload-hint">
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

/** The headers of the last attempt. Without the payload the signature is hidden too, because it would confirm guesses. */
function Headers({ delivery }: { delivery: DeliveryDetail }): VNode | null {
  const { id, endpointState, attemptList, payloadHidden } = delivery;
  const last = attemptList.at(-1);
  if (!last) return null;
  const signature = payloadHidden === null ? last.signature : 'hidden, like the payload';
  const headers = requestHeaders(id, delivery, secondsOf(last.attemptedAt), signature);
  return (
    <>
      <h2>Request headers of the last attempt</h2>
      <pre tabIndex={0} role="region" aria-label="Request headers">
        <code>
          {Object.entries(headers)
            .map(([name, value]) => `${name}: ${value}`)
            .join('\n')}
        </code>
      </pre>
      {payloadHidden === null && endpointState !== 'deleted' && (
        <p>
          <a href={`/portal/verify?delivery=${id}#checker`}>Check this signature</a>
        </p>
      )}
    </>
  );
}

import type { VNode } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import { ExactMoment } from '../../http/pages/moment.js';
import type { Attempt, DeliveryDetail } from '../../webhooks/deliveries/delivery.js';
import { requestHeaders } from '../../webhooks/deliveries/delivery-attempt.service.js';
import { formatMs } from './charts/response-times-chart.js';
import { DeliveryStateBadge } from './delivery-rows.js';
import { adviceFor, CANCEL_REASONS, isSuccess, outcomeWords } from './failure-words.js';
import { renderPortalPage, type PortalFrame } from './portal-layout.js';
import { Json } from './test-endpoint.page.js';

export interface DeliveryPageProps {
  frame: PortalFrame;
  delivery: DeliveryDetail;
  resendToken: string;
  now: Date;
}

// Longer than a lease, so that the page also waits for an attempt that is under way.
const SOON_MS = 35_000;
const REFRESH_SECONDS = 2;

/** One delivery: what was sent, and all that came of it. While an attempt is about to end, the page asks for itself again. */
export function deliveryPage({ frame, delivery, resendToken, now }: DeliveryPageProps): string {
  const { nextAttemptAt, eventType, isTest } = delivery;
  const isSoon = nextAttemptAt !== null && nextAttemptAt.getTime() - now.getTime() < SOON_MS;
  return renderPortalPage({
    frame,
    title: isTest ? `Test: ${eventType}` : `Delivery: ${eventType}`,
    part: 'deliveries',
    above: { href: '/portal/deliveries', label: 'Deliveries' },
    refreshAfter: isSoon ? REFRESH_SECONDS : undefined,
    children: (
      <>
        <div data-live>
          <Summary delivery={delivery} isSoon={isSoon} />
        </div>
        <Resend delivery={delivery} csrfToken={resendToken} />
        <div data-live>
          <Facts delivery={delivery} />
          <Attempts attempts={delivery.attemptList} />
        </div>
        <h2>Payload</h2>
        <Json text={delivery.payload} label="Payload" />
        <div data-live>
          <Headers delivery={delivery} />
        </div>
      </>
    ),
  });
}

function Summary({ delivery, isSoon }: { delivery: DeliveryDetail; isSoon: boolean }): VNode {
  const { state, cancelReason, nextAttemptAt } = delivery;
  const last = delivery.attemptList.at(-1);
  const failed = last && !isSuccess(last);
  return (
    <div class={`outcome outcome-${state}`} role="status">
      <p class="outcome-line">
        <DeliveryStateBadge state={state} />
        {last ? (
          <strong>
            {outcomeWords(last)} after {formatMs(last.durationMs)}
          </strong>
        ) : (
          <strong>{state === 'cancelled' ? 'Not sent' : 'Waiting for the answer …'}</strong>
        )}
      </p>
      {failed && last.detail && <p>{last.detail}</p>}
      {failed && state !== 'delivered' && <p>{adviceFor(last)}</p>}
      {cancelReason && <p>{CANCEL_REASONS[cancelReason]}</p>}
      {state === 'pending' && nextAttemptAt && (
        <p>
          {isSoon ? (
            'The next attempt is under way or about to begin. This page refreshes itself.'
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
      <p class="entry-label">Start of the answer</p>
      <pre tabIndex={0} role="region" aria-label={`Start of the answer to attempt ${attempt.number}`}>
        <code>{attempt.responseStart}</code>
      </pre>
    </>
  );
}

function Resend({ delivery, csrfToken }: { delivery: DeliveryDetail; csrfToken: string }): VNode {
  const { id, endpointId, endpointState, isTest } = delivery;
  if (endpointState === 'deleted') {
    return <p class="fine-print">The endpoint was deleted, so this delivery cannot be sent again.</p>;
  }
  if (endpointState === 'disabled' && !isTest) {
    return (
      <p class="fine-print">
        The endpoint is disabled. <a href={`/portal/endpoints/${endpointId}`}>Enable it</a> to send this
        delivery again.
      </p>
    );
  }
  return (
    <form method="post" action={`/portal/deliveries/${id}/resend`} class="entry-actions">
      <CsrfField token={csrfToken} />
      <button type="submit">Resend</button>
      <a class="button-link quiet" href={`/portal/endpoints/${endpointId}/edit`}>
        Edit endpoint
      </a>
    </form>
  );
}

function Facts({ delivery }: { delivery: DeliveryDetail }): VNode {
  const { endpointState, endpointId, endpointUrl, finishedAt } = delivery;
  return (
    <dl class="facts">
      <div>
        <dt>Endpoint</dt>
        <dd>
          {endpointState === 'deleted' ? (
            <>
              <bdi>{endpointUrl}</bdi> (deleted)
            </>
          ) : (
            <a href={`/portal/endpoints/${endpointId}`}>
              <bdi>{endpointUrl}</bdi>
            </a>
          )}
        </dd>
      </div>
      <div>
        <dt>Event type</dt>
        <dd>
          <code>{delivery.eventType}</code>
        </dd>
      </div>
      <div>
        <dt>Created</dt>
        <dd>
          <ExactMoment at={delivery.createdAt} />
        </dd>
      </div>
      {finishedAt && (
        <div>
          <dt>Finished</dt>
          <dd>
            <ExactMoment at={finishedAt} />
          </dd>
        </div>
      )}
      <div>
        <dt>Delivery ID</dt>
        <dd>
          <code>{delivery.id}</code>
        </dd>
      </div>
      <div>
        <dt>Event ID</dt>
        <dd>
          <code>{delivery.eventId}</code>
        </dd>
      </div>
    </dl>
  );
}

function Attempts({ attempts }: { attempts: Attempt[] }): VNode {
  return (
    <>
      <h2>Attempts</h2>
      {attempts.length === 0 ? (
        <p class="empty">No attempt has ended yet.</p>
      ) : (
        <ol class="attempts" role="list" reversed>
          {[...attempts].reverse().map((attempt) => (
            <li>
              <p class="attempt-line">
                <span class={`badge ${isSuccess(attempt) ? 'badge-good' : 'badge-bad'}`}>
                  #{attempt.number}
                </span>
                <strong>{outcomeWords(attempt)}</strong>
                <span>after {formatMs(attempt.durationMs)}</span>
                <span class="attempt-time">
                  <ExactMoment at={attempt.attemptedAt} />
                </span>
              </p>
              {attempt.detail && <p>{attempt.detail}</p>}
              {attempt.responseStart && (
                <details>
                  <summary>
                    Answer<span class="visually-hidden"> to attempt {attempt.number}</span>
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

/** As they were sent with the last attempt. */
function Headers({ delivery: { id, eventType, attemptList } }: { delivery: DeliveryDetail }): VNode | null {
  const last = attemptList.at(-1);
  if (!last) return null;
  const timestamp = Math.floor(last.attemptedAt.getTime() / 1000);
  const headers = requestHeaders(id, eventType, timestamp, last.signature);
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
    </>
  );
}

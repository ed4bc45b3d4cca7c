import type { ComponentChildren, VNode } from 'preact';
import type { ClientRequestEntity } from '#events/partners/request-log/client-request.entity.js';
import type { SandboxFaultEntity } from '#access/sandbox-faults/sandbox-fault.entity.js';
import { ExactMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import type { DeliveryDetail } from '#events/webhooks/deliveries/delivery.js';
import { DeliveryStateBadge } from '#events/webhooks/deliveries/delivery-state.js';
import { lastOutcome } from '#events/webhooks/deliveries/failure-messages.js';
import { headersOf, inLines } from '#entrypoints/webhook-portal/deliveries/sent-request.js';
import { TypeName } from '#entrypoints/webhook-portal/frame/type-name.js';

/** How many entries the time line has. */
export const TIME_LINE_LENGTH = 25;
/** How many characters of an answer are shown. */
const ANSWER_MAX = 80;

export interface TimeLineProps {
  deliveries: readonly DeliveryDetail[];
  /** Requests that a fault made fail, and those since then, newest first. */
  requests: readonly ClientRequestEntity[];
  faults: readonly SandboxFaultEntity[];
}

/** Faults that wait, then what happened, the newest first: what was sent, the requests that failed, and those that followed them. */
export function TimeLine({ deliveries, requests, faults }: TimeLineProps): VNode {
  const happened = [
    ...deliveries.map((delivery) => ({ at: delivery.createdAt, row: <DeliveryRow delivery={delivery} /> })),
    ...requests
      .filter(({ injected }, n) => injected || requests[n + 1]?.injected)
      .map((request) => ({ at: request.occurredAt, row: <RequestRow request={request} /> })),
  ].sort((one, other) => other.at.getTime() - one.at.getTime());
  return (
    <ol class="rows time-line" role="list" reversed tabIndex={0} aria-label="What was sent, newest first">
      {faults.map((fault) => (
        <FaultRow fault={fault} />
      ))}
      {happened.slice(0, TIME_LINE_LENGTH).map(({ row }) => row)}
    </ol>
  );
}

/** A log may be full of other requests; the ones after a fault show how the program reacted. */
export function sinceFaults(requests: readonly ClientRequestEntity[]): ClientRequestEntity[] {
  const oldest = requests.findLastIndex(({ injected }) => injected);
  return requests.slice(0, oldest + 1);
}

function Row({
  id,
  title,
  at,
  children,
}: {
  id: string;
  title: ComponentChildren;
  at?: Date;
  children: ComponentChildren;
}): VNode {
  return (
    <li data-key={id}>
      <h3 class="row-title">{title}</h3>
      {children}
      {at && (
        <p class="row-time">
          <ExactMoment at={at} />
        </p>
      )}
    </li>
  );
}

function DeliveryRow({ delivery }: { delivery: DeliveryDetail }): VNode {
  const { id, eventType, endpointUrl, createdAt, attempts, state, attemptList } = delivery;
  const title = (
    <a href={`/portal/deliveries/${id}`}>
      <TypeName name={eventType} />
    </a>
  );
  const last = attemptList.at(-1);
  // Such as what the receiver of the demonstration says about the signature.
  const answer = last?.responseStart?.split('\n', 1)[0]!.slice(0, ANSWER_MAX);
  return (
    <Row id={id} title={title} at={createdAt}>
      <DeliveryStateBadge state={state} />
      <p class="row-outcome">
        {lastOutcome(delivery)}
        {attempts > 1 && `, ${attempts} attempts`}
        {answer && (
          <>
            : <bdi>“{answer}”</bdi>
          </>
        )}
      </p>
      {last && (
        <details>
          <summary>
            Signature<span class="visually-hidden"> of {id}</span>
          </summary>
          <p>
            Sent to <bdi>{endpointUrl}</bdi>. <a href="/portal/verify">Check a signature</a>
          </p>
          <pre tabIndex={0} role="region" aria-label={`Signed headers of ${id}`}>
            <code>{inLines(headersOf(delivery, last).filter(([name]) => name.startsWith('webhook-')))}</code>
          </pre>
        </details>
      )}
    </Row>
  );
}

function RequestRow({ request }: { request: ClientRequestEntity }): VNode {
  const { requestId, method, route, status, error, injected, occurredAt } = request;
  const title = (
    <a href={`/portal/requests?request_id=${encodeURIComponent(requestId)}`}>
      {method} {route}
    </a>
  );
  return (
    <Row id={requestId} title={title} at={occurredAt}>
      <State tone={status < 400 ? 'good' : injected ? 'warn' : 'bad'}>{String(status)}</State>
      <p class="row-outcome">
        {injected ? 'Made to fail, as you asked' : 'Your program’s request after it'}
        {error && `: ${error}`}
      </p>
    </Row>
  );
}

function FaultRow({ fault: { target, kind, remaining, expiresAt } }: { fault: SandboxFaultEntity }): VNode {
  return (
    <Row
      id={`fault-${target}`}
      title={
        kind === 'refresh'
          ? 'The next refresh fails'
          : `The next ${remaining === 1 ? 'request is' : `${remaining} requests are`} answered with ${kind}`
      }
    >
      <State tone="warn">Waiting</State>
      <p class="row-time">
        Until <ExactMoment at={expiresAt} />
      </p>
    </Row>
  );
}

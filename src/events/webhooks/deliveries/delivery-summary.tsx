import type { VNode } from 'preact';
import { formatMs } from '#platform/web/charts/numbers.js';
import { ExactMoment } from '#platform/web/tables/moment.js';
import type { Attempt, DeliveryDetail } from './delivery.js';
import { DeliveryStateBadge } from './delivery-state.js';
import {
  adviceFor,
  CANCEL_REASONS,
  hasAdvice,
  isSuccess,
  outcomeText,
  PAYLOAD_HIDDEN,
  wasSent,
} from './failure-messages.js';

interface DeliverySummaryProps {
  delivery: DeliveryDetail;
  isSoon?: boolean;
  /** Whether an attempt is running, if there was none before. */
  isUnderWay?: boolean;
}

/** How a delivery is, why, what to do about it, and when the next attempt is. */
export function DeliverySummary({ delivery, isSoon, isUnderWay }: DeliverySummaryProps): VNode {
  const { state, cancelReason, payloadHidden, nextAttemptAt } = delivery;
  const last = delivery.attemptList.at(-1);
  const failed = last && !isSuccess(last);
  return (
    <div class={`outcome outcome-${state}`} role="status">
      <p class="outcome-line">
        <DeliveryStateBadge state={state} />
        {last ? (
          <strong>
            {outcomeText(last)}
            {wasSent(last) && <> after {formatMs(last.durationMs)}</>}
          </strong>
        ) : (
          <strong>
            {state === 'cancelled' ? 'Not sent' : isUnderWay ? 'Waiting for the response …' : 'Not sent yet'}
          </strong>
        )}
      </p>
      {failed && last.detail && <p>{last.detail}</p>}
      {failed && hasAdvice(last) && state !== 'delivered' && <p>{adviceFor(last)}</p>}
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

/** The start of a response's body. */
export function Answer({ attempt }: { attempt: Attempt }): VNode {
  return (
    <>
      <p class="entry-label">Start of the response</p>
      <pre tabIndex={0} role="region" aria-label={`Start of the response to attempt ${attempt.number}`}>
        <code>{attempt.responseStart}</code>
      </pre>
    </>
  );
}

import type { VNode } from 'preact';
import { formatMs } from '#platform/web/charts/numbers.js';
import { BatchList } from '#events/webhooks/batches/batch-list.js';
import { ExactMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import type { Attempt, DeliveryDetail } from '#events/webhooks/deliveries/delivery.js';
import { curlOf, inLines, requestHead, type SentAttempt } from './sent-request.js';
import { Answer } from '#events/webhooks/deliveries/delivery-summary.js';
import { isSuccess, outcomeText, wasSent } from '#events/webhooks/deliveries/failure-messages.js';

interface OneAttempt {
  delivery: DeliveryDetail;
  attempt: SentAttempt;
}

/** All attempts of a delivery, the last one first: what was sent and what was answered. */
export function Attempts({ delivery }: { delivery: DeliveryDetail }): VNode {
  const { attemptList } = delivery;
  return (
    <>
      <h2>Attempts</h2>
      {attemptList.length === 0 ? (
        <p class="empty">No attempts have finished yet.</p>
      ) : (
        <ol class="attempts" role="list" reversed>
          {[...attemptList].reverse().map((attempt) => (
            <li>
              <p class="attempt-line">
                <State tone={isSuccess(attempt) ? 'good' : 'bad'}>#{attempt.number}</State>
                <strong>{outcomeText(attempt)}</strong>
                {wasSent(attempt) && <span>after {formatMs(attempt.durationMs)}</span>}
                <span class="attempt-time">
                  <ExactMoment at={attempt.attemptedAt} />
                </span>
              </p>
              {attempt.detail && <p>{attempt.detail}</p>}
              <BatchList
                attempt={attempt}
                deliveryId={delivery.id}
                pathOf={(id) => `/portal/deliveries/${id}`}
              />
              {wasSent(attempt) && <Request delivery={delivery} attempt={attempt} />}
              <Response attempt={attempt} />
            </li>
          ))}
        </ol>
      )}
    </>
  );
}

function Request({ delivery, attempt }: OneAttempt): VNode {
  const { number } = attempt;
  return (
    <details>
      <summary>
        Request<span class="visually-hidden"> of attempt {number}</span>
      </summary>
      <pre tabIndex={0} role="region" aria-label={`Request of attempt ${number}`}>
        <code>{requestHead(delivery, attempt)}</code>
      </pre>
      <p class="hint">
        {delivery.payload === null
          ? 'The payload is hidden, and so is the signature.'
          : `After an empty line comes ${attempt.batch ? '{"type":"batch","data":[…]} with the payloads of all events of the batch, this one' : 'the payload,'} exactly as it is shown below.`}
      </p>
      <CurlCommand delivery={delivery} attempt={attempt} />
      <CheckSignature delivery={delivery} attempt={attempt} />
    </details>
  );
}

function Response({ attempt }: { attempt: Attempt }): VNode | null {
  const { number, responseHeaders, responseStart, failure } = attempt;
  const headers = responseHeaders ?? [];
  if (headers.length === 0 && !responseStart) return null;
  return (
    <details>
      <summary>
        Response<span class="visually-hidden"> to attempt {number}</span>
      </summary>
      {headers.length > 0 && (
        <>
          <p class="entry-label">
            Status {failure === 'not_acknowledged' ? 207 : attempt.status}, and its first headers
          </p>
          <pre tabIndex={0} role="region" aria-label={`Headers of the response to attempt ${number}`}>
            <code>{inLines(headers)}</code>
          </pre>
        </>
      )}
      {responseStart && <Answer attempt={attempt} />}
    </details>
  );
}

/** A command that sends the same again; with our script a button copies it. Nothing without the payload. */
export function CurlCommand({ delivery, attempt }: OneAttempt): VNode | null {
  const command = curlOf(delivery, attempt);
  if (command === undefined) return null;
  return (
    <details class="copied-whole">
      <summary>
        As a curl command<span class="visually-hidden"> for attempt {attempt.number}</span>
      </summary>
      <pre
        data-copy="Copy as curl"
        tabIndex={0}
        role="region"
        aria-label={`curl command for attempt ${attempt.number}`}
      >
        <code>{command}</code>
      </pre>
    </details>
  );
}

function CheckSignature({ delivery, attempt: { number, batch } }: OneAttempt): VNode | null {
  if (batch || delivery.payloadHidden !== null || delivery.endpointState === 'deleted') return null;
  return (
    <p>
      <a href={`/portal/verify?delivery=${delivery.id}&attempt=${number}#checker`}>
        Check signature<span class="visually-hidden"> of attempt {number}</span>
      </a>
    </p>
  );
}

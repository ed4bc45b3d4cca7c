import type { ComponentChildren, VNode } from 'preact';
import { DAY_MS } from '#platform/config/durations.js';
import { ExactMoment, Moment } from '#platform/web/tables/moment.js';
import type { Delivery } from '../deliveries/delivery.js';
import { adviceFor, hasAdvice, lastOutcome, newestFailure } from '../deliveries/failure-messages.js';
import { EndpointState } from './endpoint-state.js';
import { FAILING_DAYS, type EndpointEntity } from './endpoint.entity.js';

interface EndpointFailingProps {
  endpoint: EndpointEntity;
  /** The latest ones. */
  deliveries: Delivery[];
  /** What can be done about it. */
  children?: ComponentChildren;
}

/** Why an endpoint fails, as of a delivery: the cause, since when, until when, and what to do; nothing for one that does not. */
export function EndpointFailing({ endpoint, deliveries, children }: EndpointFailingProps): VNode | null {
  const { enabled, failingSince } = endpoint;
  if (!enabled || failingSince === null) return null;
  const failure = newestFailure(deliveries);
  const next = deliveries
    .flatMap(({ nextAttemptAt }) => nextAttemptAt ?? [])
    .toSorted((one, other) => one.getTime() - other.getTime())[0];
  return (
    <div class="outcome outcome-failed" role="status">
      <p class="outcome-line">
        <EndpointState endpoint={endpoint} />
        {failure && <strong>{lastOutcome(failure)}</strong>}
      </p>
      {failure && hasAdvice({ url: failure.lastUrl }) && (
        <p>{adviceFor({ ...outcomeOf(failure), detail: null })}</p>
      )}
      <p>
        Since <ExactMoment at={failingSince} />. After five days without a success it is disabled, on{' '}
        <Moment at={new Date(failingSince.getTime() + FAILING_DAYS * DAY_MS)} />.
        {next && (
          <>
            {' '}
            Next attempt: <ExactMoment at={next} />.
          </>
        )}
      </p>
      {children}
    </div>
  );
}

const outcomeOf = ({ lastStatus: status, lastFailure: failure, lastUrl: url }: Delivery) => ({
  status,
  failure,
  url,
});

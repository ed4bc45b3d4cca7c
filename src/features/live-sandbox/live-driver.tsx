import type { VNode } from 'preact';
import type { Driver } from '#events/sandbox/driver.js';
import { useMayUse } from '#platform/web/layout/may-use.js';
import { ONLY_LIVE } from '#entrypoints/webhook-portal/sandbox/sandbox.page.js';
import { Car } from './car.js';
import type { SessionCourse } from './session-course.js';
import { TimeLine, type TimeLineProps } from './time-line.js';

export interface LiveDriverProps extends TimeLineProps {
  driver: Driver;
  course: SessionCourse;
  hasEndpoint: boolean;
  now: Date;
}

const PATH = '/portal/sandbox';
const NEW_ENDPOINT = '/portal/endpoints/new';

/** The car, and what is sent as it happens. Our script updates both; without it, a link does. */
export function LiveDriver(props: LiveDriverProps): VNode {
  const { driver, deliveries, requests, faults } = props;
  const path = `${PATH}?driver=${driver.id}`;
  const isEmpty = deliveries.length + requests.length + faults.length === 0;
  return (
    <div class="live">
      <Car {...props} />
      <section aria-labelledby="time-line">
        <div class="section-head">
          <h2 id="time-line">What is sent</h2>
          <a href={path}>Refresh</a>
        </div>
        <p class="hint" data-list-status />
        <div
          data-live-list={`${path}&${ONLY_LIVE.name}=${ONLY_LIVE.value}`}
          data-stream={`${PATH}/events`}
          data-live-words="Signed requests and faults appear here as they happen."
        >
          {isEmpty ? <Nothing {...props} /> : <TimeLine {...props} />}
        </div>
      </section>
    </div>
  );
}

/** What is missing, in the order in which it is needed. */
function Nothing({ driver, hasEndpoint }: LiveDriverProps): VNode {
  const mayAdd = useMayUse()('GET', NEW_ENDPOINT);
  if (!hasEndpoint) {
    return (
      <p class="empty">
        This client has no endpoint yet, so nothing is sent.{' '}
        {mayAdd && <a href={NEW_ENDPOINT}>Add an endpoint</a>}
      </p>
    );
  }
  return (
    <p class="empty">
      {driver.hasConsent
        ? 'Nothing yet. Start a session: its first event is sent at once.'
        : 'The driver shares nothing with this client. Grant consent, then start a session.'}
    </p>
  );
}

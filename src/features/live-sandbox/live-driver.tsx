import type { VNode } from 'preact';
import type { Driver } from '#events/sandbox/driver.js';
import { useMayUse } from '#platform/web/layout/may-use.js';
import { ONLY_LIVE } from '#entrypoints/webhook-portal/sandbox/sandbox.page.js';
import { isChargingNow } from './car.js';
import { PowerChart } from './power-chart.js';
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

/** What is sent as it happens. Our script updates it; without it, a link does. */
export function Sent(props: LiveDriverProps): VNode {
  const { driver, deliveries, requests, faults } = props;
  const path = `${PATH}?driver=${driver.id}`;
  const isEmpty = deliveries.length + requests.length + faults.length === 0;
  return (
    <section aria-labelledby="time-line">
      <div class="section-head">
        <h2 id="time-line">What is sent</h2>
        <a href={path}>Refresh</a>
      </div>
      <div
        data-live-list={`${path}&${ONLY_LIVE.name}=${ONLY_LIVE.value}`}
        data-stream={`${PATH}/events`}
        data-live-words="Signed requests and faults appear here as they happen."
      >
        {isEmpty ? <Nothing {...props} /> : <TimeLine {...props} />}
      </div>
      <p class="hint" data-list-status />
    </section>
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

/** The power of the last session, to this moment while it goes on. */
export function Power({ driver, course, now }: Pick<LiveDriverProps, 'driver' | 'course' | 'now'>): VNode {
  const { session } = course;
  return (
    <div id="power" data-live-part>
      {session && (
        <PowerChart
          power={
            isChargingNow(driver, course)
              ? [...session.power, { at: now, kw: session.power.at(-1)?.kw ?? 0 }]
              : session.power
          }
          from={session.startedAt}
          to={session.endedAt ?? driver.endsAt ?? now}
        />
      )}
    </div>
  );
}

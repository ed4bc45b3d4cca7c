import type { VNode } from 'preact';
import { BarChart } from '#platform/web/charts/bar-chart.js';
import { formatCount, sumOf } from '#platform/web/charts/numbers.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { useMayUse } from '#platform/web/layout/may-use.js';
import { endpointPath } from '../endpoints/about-endpoint.js';
import { AddEndpoint, Endpoints } from '../endpoints/endpoint-list.js';
import { successRate } from '../endpoints/endpoint-words.js';
import { labelsOf, periodsOf } from '#platform/web/charts/ranges.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { FirstSteps } from './first-steps.js';
import { PEOPLE_COUNTED_TO, type PortalHome } from './portal-home.service.js';

/** Asks before all deliveries that failed are resent. */
const RESEND_FAILED = '/portal/deliveries/matching?state=failed';

/** The first page of the portal: first steps until they are done, the current state, and the endpoints. */
export function homePage(home: PortalHome): PortalPage {
  const isDone = Object.values(home.done).every(Boolean);
  const { endpoints } = home;
  return {
    title: 'Overview',
    part: 'endpoints',
    actions: <AddEndpoint endpoints={endpoints} />,
    children: (
      <>
        {endpoints.length > 0 && <Health home={home} />}
        {!isDone && (
          <FirstSteps
            isConfidential={home.isConfidential}
            done={home.done}
            firstEndpoint={endpoints[0]?.id}
          />
        )}
        {endpoints.length > 0 && (
          <div class="tiles tiles-of-three">
            <Deliveries attempts={home.attempts} />
            <Limit limit={home.limit} remaining={home.remaining} />
            {home.people !== undefined && <People count={home.people} />}
          </div>
        )}
        <Endpoints endpoints={endpoints} />
      </>
    ),
  };
}

/** Whether everything is fine, in a line. */
function Health({ home: { endpoints, failing } }: { home: PortalHome }): VNode {
  const count = endpoints.length === 1 ? '1 endpoint' : `${endpoints.length} endpoints`;
  const disabled = endpoints.filter(({ enabled, disabledReason }) => !enabled && disabledReason !== null);
  if (!failing) {
    return (
      <p class={disabled.length > 0 ? 'verdict verdict-bad' : 'verdict'}>
        {count}, {disabled.length > 0 ? `${disabled.length} disabled by the service` : 'none is failing'}.
      </p>
    );
  }
  const { first, cause, all } = failing;
  return (
    <p class="verdict verdict-bad">
      {count}, {all} failing: <a href={endpointPath(first.id)}>{new URL(first.url).host}</a>
      {cause && <>, {cause}</>}, since <RecentMoment at={first.failingSince!} />
    </p>
  );
}

function Deliveries({ attempts }: Pick<PortalHome, 'attempts'>): VNode {
  const mayResend = useMayUse()('GET', RESEND_FAILED);
  const delivered = sumOf(attempts.map((each) => each.delivered));
  const failed = sumOf(attempts.map((each) => each.failed));
  return (
    <section class="tile-card" aria-label="Delivery attempts">
      <h2>Delivery attempts in 24 hours</h2>
      <p class="figures">
        <strong>{formatCount(delivered + failed)}</strong>
        <span class="muted">
          {delivered + failed === 0
            ? ' · nothing was sent'
            : ` · ${successRate({ delivered, failed })} succeeded`}
        </span>
        {failed > 0 && (
          <>
            {' · '}
            <a href="/portal/deliveries?state=failed">View failed deliveries</a>
            {mayResend && (
              <>
                {' · '}
                <a href={RESEND_FAILED}>Resend them</a>
              </>
            )}
          </>
        )}
      </p>
      {delivered + failed > 0 && (
        <BarChart
          id="chart-attempts"
          size="small"
          description={`Attempts of the last 24 hours, by the hour: ${delivered} delivered, ${failed} failed.`}
          labels={labelsOf(attempts, '24h')}
          periods={periodsOf(attempts, '24h')}
          series={[
            { tone: 'good', name: 'delivered', values: attempts.map((each) => each.delivered) },
            { tone: 'bad', name: 'failed', values: attempts.map((each) => each.failed) },
          ]}
        />
      )}
    </section>
  );
}

function Limit({ limit, remaining }: Pick<PortalHome, 'limit' | 'remaining'>): VNode {
  const used = limit - remaining;
  return (
    <section class="tile-card" aria-label="Requests">
      <h2>Requests in the last hour</h2>
      <p class="figures">
        <strong>{formatCount(used)}</strong>
        <span class="muted"> of {formatCount(limit)} with the client’s own token</span>
      </p>
      <meter
        min={0}
        max={limit}
        high={0.8 * limit}
        optimum={0}
        value={used}
        aria-label="Share of the limit used"
      >
        {formatCount(used)} of {formatCount(limit)}
      </meter>
      <p>
        <a href="/portal/usage">View usage</a>
      </p>
    </section>
  );
}

function People({ count }: { count: number }): VNode {
  return (
    <section class="tile-card" aria-label="Users">
      <h2>Users connected</h2>
      <p class="figures">
        <strong>
          {formatCount(count)}
          {count >= PEOPLE_COUNTED_TO && ' or more'}
        </strong>
      </p>
      <p class="muted">Each can withdraw that at any time.</p>
    </section>
  );
}

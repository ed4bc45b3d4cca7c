import type { VNode } from 'preact';
import { ExactMoment } from '#platform/web/tables/moment.js';
import type { Recovery } from '#events/webhooks/deliveries/recovery.entity.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { counted } from './recover.page.js';
import { endpointPath } from '../endpoints/about-endpoint.js';

export interface RecoveryPageProps {
  recovery: Recovery;
  now: Date;
}

const REFRESH_SECONDS = 2;
// What is still pending after this time waits for retries, which are hours apart by then.
const QUICK_MS = 2 * 60_000;
const REFRESH_LATER_SECONDS = 60;

/** The progress of a recovery. While something is pending, the page reloads itself. */
export function recoveryPage({ recovery, now }: RecoveryPageProps): PortalPage {
  const { id, endpointId, total, pending, delivered, failed, cancelled, createdAt } = recovery;
  const isQuick = now.getTime() - createdAt.getTime() < QUICK_MS;
  const done = total - pending;
  const left = leftOf(recovery);
  const list = `/portal/deliveries?recovery=${id}`;
  const part = (count: number, state: string, label: string) => (
    <div>
      <dt>{label}</dt>
      <dd>{count > 0 ? <a href={`${list}&state=${state}`}>{count.toLocaleString('en-GB')}</a> : '0'}</dd>
    </div>
  );
  return {
    title: 'Recovery',
    part: endpointId === null ? 'deliveries' : 'endpoints',
    above: [
      endpointId === null
        ? { href: '/portal/deliveries', label: 'Deliveries' }
        : { href: endpointPath(endpointId), label: 'Endpoint' },
    ],
    refreshAfter: pending === 0 ? undefined : isQuick ? REFRESH_SECONDS : REFRESH_LATER_SECONDS,
    children: (
      <>
        <p>
          {counted(total)} <What recovery={recovery} />
        </p>
        <div data-live>
          <div class={`outcome outcome-${toneOf(recovery)}`} role="status">
            <label for="progress">{progressLabel(recovery)}</label>
            <progress id="progress" max={Math.max(1, total)} value={total === 0 ? 1 : done} />
            <dl class="measures">
              {part(delivered, 'delivered', 'Delivered')}
              {part(pending, 'pending', 'Pending')}
              {part(failed, 'failed', recovery.kind === 'missed' ? 'Failed' : 'Failed again')}
              {part(cancelled, 'cancelled', 'Cancelled')}
            </dl>
            {left > 0 && (
              <p class="fine-print">
                {counted(left)} {left === 1 ? 'is' : 'are'} not counted here any more: resent again, or older
                than what is kept.
              </p>
            )}
            {pending > 0 && (
              <p class="fine-print">
                This page refreshes automatically. Failed deliveries are retried as usual.
              </p>
            )}
          </div>
        </div>
        <p>
          <a href={list}>View these deliveries</a>
        </p>
      </>
    ),
  };
}

/** What was sent, as a text that follows the number. */
function What({ recovery: { kind, from, to, total } }: { recovery: Recovery }): VNode {
  const times = (
    <>
      from <ExactMoment at={from} /> until <ExactMoment at={to} />.
    </>
  );
  if (kind === 'failed') return <>that failed, created {times}</>;
  if (kind === 'missed') return <>of events that were missed while the endpoint was disabled {times}</>;
  const selected = total === 1 ? 'that was selected' : 'that were selected';
  return <>{kind === 'matching' ? 'that matched the filter' : selected} and could be resent.</>;
}

/** Those that belong to a later recovery by now, or were purged with their events. */
const leftOf = ({ total, pending, delivered, failed, cancelled }: Recovery): number =>
  Math.max(0, total - pending - delivered - failed - cancelled);

/** Only a complete success counts as good. */
function toneOf({ pending, failed, cancelled }: Recovery): 'pending' | 'delivered' | 'failed' {
  if (pending > 0) return 'pending';
  return failed + cancelled === 0 ? 'delivered' : 'failed';
}

function progressLabel(recovery: Recovery): string {
  const { total, pending, delivered, failed, cancelled } = recovery;
  const number = (count: number) => count.toLocaleString('en-GB');
  if (pending > 0) return `${number(total - pending)} of ${counted(total)} done`;
  if (failed + cancelled === 0) return 'All done';
  return `Finished: ${number(delivered)} of ${counted(total - leftOf(recovery))} succeeded`;
}

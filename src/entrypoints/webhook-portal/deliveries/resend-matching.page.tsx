import { PageForm } from '#platform/web/forms/form.js';
import { RECOVERY_MAX } from '#events/webhooks/deliveries/recoveries.service.js';
import { withQuery, type DeliveryQuery } from './delivery-query.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { counted } from './recover.page.js';

export interface ResendMatchingPageProps {
  query: DeliveryQuery;
  /** How many can be resent, counted up to one more than one recovery resends. */
  count: number;
  /** Later deliveries are not resent. */
  until: Date;
}

const PATH = '/portal/deliveries';

/** How many deliveries match the filter, and the button that resends them. */
export function resendMatchingPage({ query, count, until }: ResendMatchingPageProps): PortalPage {
  const list = withQuery(PATH, query.search);
  const given = Object.fromEntries(Object.entries(query.input).filter(([, value]) => value !== ''));
  return {
    title: 'Resend all that match',
    part: 'deliveries',
    above: [{ href: list, label: 'Deliveries' }],
    children: (
      <div class="outcome" role="status">
        <p>
          {count === 0 ? (
            'Nothing in this list can be resent.'
          ) : (
            <>
              <strong>
                {count > RECOVERY_MAX && 'More than '}
                {counted(Math.min(count, RECOVERY_MAX))}
              </strong>{' '}
              {query.search
                ? `that ${count === 1 ? 'matches' : 'match'} the filter`
                : 'of the list, which has no filter,'}{' '}
              can be resent, also what was delivered before.
            </>
          )}
        </p>
        <p class="fine-print">
          Left out: what is being attempted right now, what is about users who were erased, and what belongs
          to endpoints that are disabled or deleted.
        </p>
        {count > RECOVERY_MAX && <p>At most {counted(RECOVERY_MAX)} are resent at once, the oldest first.</p>}
        {count > 0 && (
          <PageForm
            action={`${PATH}/matching`}
            hidden={{ ...given, until: until.toISOString() }}
            submit="Resend all that match"
            cancel={list}
          />
        )}
      </div>
    ),
  };
}

import type { VNode } from 'preact';
import { LinkButton, ListFilter, PostForm } from '#platform/web/forms/form.js';
import { useMayUse } from '#platform/web/layout/may-use.js';
import { LiveList, CsvLink } from '#platform/web/tables/live-list.js';
import { PagedList } from '#platform/web/tables/pager.js';
import { ReadyFilters } from '#platform/web/tables/ready-filters.js';
import type { Page } from '#platform/database/queries/read-page.js';
import { DELIVERY_STATES, type Delivery } from '#events/webhooks/deliveries/delivery.js';
import { withQuery, type DeliveryQuery } from './delivery-query.js';
import { STATE_LABELS } from '#events/webhooks/deliveries/delivery-state.js';
import { DeliveryRows } from './delivery-rows.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { timeField } from '#platform/web/forms/field.js';

const PATH = '/portal/deliveries';

export interface DeliveriesPageProps {
  query: DeliveryQuery;
  endpoints: { id: string; url: string }[];
  typeNames: string[];
  /** Undefined if the filter is invalid. */
  deliveries?: Page<Delivery>;
}

const SELECTED = 'resend-selected';
/** The query parameter with which the script asks for the list only. */
export const ONLY_LIST = { name: 'part', value: 'list' };

/** The list only, from which the script takes new rows. */
export const deliveriesListPage = (
  props: Omit<DeliveriesPageProps, 'endpoints' | 'typeNames'>,
): PortalPage => ({
  title: 'Deliveries',
  part: 'deliveries',
  children: <List {...props} />,
});

/** The deliveries, newest first. */
export function deliveriesPage(props: DeliveriesPageProps): PortalPage {
  const { query } = props;
  return {
    title: 'Deliveries',
    part: 'deliveries',
    isLive: true,
    children: (
      <>
        <Filter {...props} />
        {query.filter.recoveryId && (
          <p>
            Deliveries resent by one recovery.{' '}
            <a href={`/portal/recoveries/${query.filter.recoveryId}`}>View its progress</a>
          </p>
        )}
        <List {...props} />
      </>
    ),
  };
}

function List({ query, deliveries }: Omit<DeliveriesPageProps, 'endpoints' | 'typeNames'>): VNode | null {
  const mayResend = useMayUse()('POST', `${PATH}/selected`);
  if (!deliveries) return null;
  const part = new URLSearchParams([[ONLY_LIST.name, ONLY_LIST.value]]).toString();
  return (
    <>
      <LiveList
        path={withQuery(PATH, query.place)}
        part={withQuery(PATH, [query.place, part].filter(Boolean).join('&'))}
      >
        <PagedList
          page={deliveries}
          path={withQuery(PATH, query.search)}
          label="More deliveries"
          empty={<Empty query={query} />}
        >
          <DeliveryRows
            deliveries={deliveries.items}
            withEndpoint
            place={query.place}
            chosenFor={mayResend ? SELECTED : undefined}
          />
          {mayResend && (
            <div class="buttons">
              <button type="submit" class="quiet" form={SELECTED}>
                Resend selected
              </button>
              <LinkButton look="quiet" href={withQuery(`${PATH}/matching`, query.search)}>
                Resend all that match
              </LinkButton>
            </div>
          )}
        </PagedList>
      </LiveList>
      {deliveries.items.length > 0 && <CsvLink path={withQuery(`${PATH}/csv`, query.search)} />}
      <PostForm id={SELECTED} action={`${PATH}/selected`} />
    </>
  );
}

function Empty({ query: { search, filter } }: Pick<DeliveriesPageProps, 'query'>): VNode {
  if (search === '') {
    return <>No deliveries yet. Events that your endpoints subscribe to appear here, and so do your tests.</>;
  }
  if (filter.state !== 'failed') return <>No deliveries match. Widen the filter to see more.</>;
  // The charts count attempts: those that failed may be retried until they succeed.
  const pending = new URLSearchParams(search);
  pending.set('state', 'pending');
  return (
    <>
      No deliveries match. What is retried after a failed attempt is{' '}
      <a href={withQuery(PATH, pending.toString())}>pending</a>. Widen the filter to see more.
    </>
  );
}

function Filter({ query: { input, errors }, endpoints, typeNames }: DeliveriesPageProps): VNode {
  const any = { value: '', label: 'Any' };
  const states = DELIVERY_STATES.map((state) => ({ value: state, label: STATE_LABELS[state] }));
  const urls = endpoints.map(({ id, url }) => ({ value: id, label: url.slice(0, 100) }));
  const types = typeNames.map((name) => ({ value: name, label: name }));
  return (
    <>
      <ReadyFilters
        path={PATH}
        filter={{ ...input }}
        filters={[
          { label: 'Failed', set: { state: 'failed' } },
          { label: 'Pending', set: { state: 'pending' } },
        ]}
      />
      <ListFilter
        path={PATH}
        values={{ ...input }}
        errors={errors}
        alert="The filter is invalid. See the errors below."
        fields={[
          { name: 'state', label: 'State', options: [any, ...states] },
          { name: 'endpoint', label: 'Endpoint', options: [any, ...urls] },
          { name: 'type', label: 'Event type', options: [any, ...types] },
          timeField('from', 'From (UTC)'),
          timeField('to', 'Until (UTC)'),
        ]}
        hidden={input.recovery ? { recovery: input.recovery } : {}}
      />
    </>
  );
}

import type { VNode } from 'preact';
import { NothingHere, Pager } from '../../http/pages/pager.js';
import type { Page } from '../../http/paging.js';
import { DELIVERY_STATES, type Delivery } from '../../webhooks/deliveries/delivery.js';
import { withQuery, type DeliveryQuery } from '../delivery-query.js';
import { DeliveryRows, STATE_WORDS } from './delivery-rows.js';
import { SelectField } from '../../http/pages/field.js';
import { ErrorNotice } from '../../http/pages/notices.js';
import { TimeField } from './time-field.js';
import { renderPortalPage, type PortalLayoutProps } from './portal-layout.js';

const PATH = '/portal/deliveries';

export interface DeliveriesPageProps {
  layoutProps: PortalLayoutProps;
  query: DeliveryQuery;
  endpoints: { id: string; url: string }[];
  typeNames: string[];
  /** Undefined if the filter is invalid. */
  deliveries?: Page<Delivery>;
}

/** The deliveries, newest first. */
export function deliveriesPage(props: DeliveriesPageProps): string {
  const { layoutProps, query, deliveries } = props;
  const path = withQuery(PATH, query.search);
  return renderPortalPage({
    layoutProps,
    title: 'Deliveries',
    part: 'deliveries',
    children: (
      <>
        {!deliveries && <ErrorNotice>The filter is invalid. See the errors below.</ErrorNotice>}
        <Filter {...props} />
        {query.filter.recoveryId && (
          <p>
            Deliveries resent by one recovery.{' '}
            <a href={`/portal/recoveries/${query.filter.recoveryId}`}>View its progress</a>
          </p>
        )}
        {deliveries && deliveries.items.length > 0 && (
          <DeliveryRows deliveries={deliveries.items} withEndpoint place={query.place} />
        )}
        {deliveries && deliveries.items.length === 0 && (
          <NothingHere
            page={deliveries}
            path={path}
            words={
              query.search
                ? 'No deliveries match. Widen the filter to see more.'
                : 'No deliveries yet. Events that your endpoints subscribe to appear here, and so do your tests.'
            }
          />
        )}
        {deliveries && <Pager page={deliveries} path={path} label="More deliveries" />}
      </>
    ),
  });
}

function Filter({ query: { input, errors, search }, endpoints, typeNames }: DeliveriesPageProps): VNode {
  const any = { value: '', label: 'Any' };
  // The requested value stays selected, even if it is not among the options.
  const withChosen = (options: { value: string; label: string }[], value: string) =>
    value === '' || options.some((option) => option.value === value)
      ? [any, ...options]
      : [any, ...options, { value, label: value }];
  return (
    <form method="get" action={PATH} class="filter">
      <SelectField
        id="state"
        name="state"
        label="State"
        value={input.state}
        error={errors.state}
        options={withChosen(
          DELIVERY_STATES.map((state) => ({ value: state, label: STATE_WORDS[state] })),
          input.state,
        )}
      />
      <SelectField
        id="endpoint"
        name="endpoint"
        label="Endpoint"
        value={input.endpoint}
        error={errors.endpoint}
        options={withChosen(
          endpoints.map(({ id, url }) => ({ value: id, label: url.slice(0, 100) })),
          input.endpoint,
        )}
      />
      <SelectField
        id="type"
        name="type"
        label="Event type"
        value={input.type}
        error={errors.type}
        options={withChosen(
          typeNames.map((name) => ({ value: name, label: name })),
          input.type,
        )}
      />
      <TimeField id="from" label="From (UTC)" value={input.from} error={errors.from} />
      <TimeField id="to" label="Until (UTC)" value={input.to} error={errors.to} />
      {input.recovery && <input type="hidden" name="recovery" value={input.recovery} />}
      <div class="filter-actions">
        <button type="submit" class="quiet">
          Filter
        </button>
        {search && <a href={PATH}>Show all</a>}
      </div>
    </form>
  );
}

import type { VNode } from 'preact';
import { NothingHere, Pager } from '../../http/pages/pager.js';
import type { Page } from '../../http/paging.js';
import { DELIVERY_STATES, type Delivery } from '../../webhooks/deliveries/delivery.js';
import type { DeliveryQuery } from '../delivery-query.js';
import { DeliveryRows, STATE_WORDS } from './delivery-rows.js';
import { SelectField, TimeField } from './field.js';
import { renderPortalPage, type PortalFrame } from './portal-layout.js';

const PATH = '/portal/deliveries';

export interface DeliveriesPageProps {
  frame: PortalFrame;
  query: DeliveryQuery;
  endpoints: { id: string; url: string }[];
  typeNames: string[];
  /** Left out where the filter cannot be used. */
  deliveries?: Page<Delivery>;
}

/** What was sent, newest first. */
export function deliveriesPage(props: DeliveriesPageProps): string {
  const { frame, query, deliveries } = props;
  const path = query.search ? `${PATH}?${query.search}` : PATH;
  return renderPortalPage({
    frame,
    title: 'Deliveries',
    part: 'deliveries',
    children: (
      <>
        {!deliveries && (
          <p class="notice notice-error" role="alert">
            The list cannot be narrowed like this. What is wrong stands beside the fields.
          </p>
        )}
        <Filter {...props} />
        {query.filter.recoveryId && (
          <p>
            What one recovery sent again.{' '}
            <a href={`/portal/recoveries/${query.filter.recoveryId}`}>See how far it is</a>
          </p>
        )}
        {deliveries && deliveries.items.length > 0 && (
          <DeliveryRows deliveries={deliveries.items} withEndpoint />
        )}
        {deliveries && deliveries.items.length === 0 && (
          <NothingHere
            page={deliveries}
            path={path}
            words={
              query.search
                ? 'No delivery is like this. Widen the filter to see more.'
                : 'Nothing was sent yet. When an event happens that one of your endpoints has subscribed to, it appears here; so do your tests.'
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
  // What was asked for stays chosen, also where it is not among the choices.
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

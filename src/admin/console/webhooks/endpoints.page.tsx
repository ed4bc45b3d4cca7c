import type { VNode } from 'preact';
import { ExactMoment } from '../../../http/pages/moment.js';
import type { Page } from '../../../http/paging.js';
import type { EndpointFilter, EndpointInList } from '../../../webhooks/endpoints/endpoints.repository.js';
import { healthOf } from '../../../webhooks/endpoints/endpoint-health.js';
import type { EndpointEntity } from '../../../webhooks/endpoints/endpoint.entity.js';
import { clientPath } from '../clients/client-layout.js';
import type { FieldErrors } from '../form-attempt.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { renderConsolePage } from '../pages/console-layout.js';
import { SelectField, TextField } from '../pages/form-fields.js';
import { FilterForm, NEXT_PREVIOUS, PagedTable, pathWith, State } from '../pages/lists.js';
import { ENDPOINTS_PATH, endpointPath } from './endpoint-paths.js';

export interface EndpointsPageProps {
  layoutProps: UserLayoutProps;
  filter: EndpointFilter;
  page: Page<EndpointInList>;
  errors?: FieldErrors;
}

/** The endpoints of all clients, with the results of their deliveries within a day. */
export function endpointsPage({ layoutProps, filter, page, errors }: EndpointsPageProps): string {
  const { clientId, isDisabled } = filter;
  const state = isDisabled ? 'disabled' : undefined;
  return renderConsolePage({
    layoutProps,
    part: 'endpoints',
    title: 'Endpoints',
    actions: clientId && !errors && (
      <a class="button-link" href={clientPath(clientId, 'endpoints/new')}>
        Add endpoint
      </a>
    ),
    children: (
      <>
        <FilterForm path={ENDPOINTS_PATH} isFiltered={!!clientId || !!isDisabled} errors={errors}>
          <TextField name="client_id" label="Client ID" value={clientId} errors={errors} />
          <SelectField
            name="state"
            label="State"
            value={state ?? ''}
            options={[
              { value: '', label: 'All' },
              { value: 'disabled', label: 'Disabled' },
            ]}
            errors={errors}
          />
        </FilterForm>
        {!errors && (
          <PagedTable
            caption="Endpoints"
            page={page}
            idOf={({ id }) => id}
            path={pathWith(ENDPOINTS_PATH, { client_id: clientId, state })}
            empty={clientId || isDisabled ? 'No endpoints match.' : 'There are no endpoints yet.'}
            words={NEXT_PREVIOUS}
            columns={[
              {
                head: 'Endpoint',
                cell: ({ id, url, description }) => (
                  <>
                    <a href={endpointPath(id)}>{url}</a>
                    {description && <bdi class="under muted">{description}</bdi>}
                  </>
                ),
              },
              {
                head: 'Client',
                cell: ({ clientId: owner, clientName }) => (
                  <a href={clientPath(owner)}>
                    <bdi>{clientName}</bdi>
                  </a>
                ),
              },
              { head: 'State', cell: (endpoint) => <EndpointState endpoint={endpoint} /> },
              { head: 'Delivered in 24 h', isNumber: true, cell: ({ delivered24h }) => number(delivered24h) },
              { head: 'Failed in 24 h', isNumber: true, cell: ({ failed24h }) => number(failed24h) },
              {
                head: 'Last attempt',
                cell: ({ lastAttemptAt }) => (lastAttemptAt ? <ExactMoment at={lastAttemptAt} /> : 'never'),
              },
            ]}
          />
        )}
      </>
    ),
  });
}

const number = (count: number): string => count.toLocaleString('en-GB');

/** The state of an endpoint and, if the service disabled it, the reason. */
export function EndpointState({ endpoint }: { endpoint: EndpointEntity }): VNode {
  const { label, tone, reason } = healthOf(endpoint);
  return <State tone={tone}>{reason === undefined ? label : `${label}: ${reason}`}</State>;
}

import type { VNode } from 'preact';
import type { ClientEntity } from '#access/clients/client.entity.js';
import {
  REDIRECT_URI_REQUEST_STATES,
  type RedirectUriRequestEntity,
  type RedirectUriRequestState,
} from './redirect-uri-request.entity.js';
import { TextField, type Option, type FieldErrors } from '#platform/web/forms/field.js';
import { Buttons, PostButton } from '#platform/web/forms/form.js';
import { useMayUse } from '#platform/web/layout/may-use.js';
import { ErrorNotice } from '#platform/web/layout/notices.js';
import { Facts } from '#platform/web/tables/facts.js';
import { ExactMoment, RecentMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import { clientPath } from '#entrypoints/admin/console/clients/client-layout.js';
import type { FilteredList } from '#entrypoints/admin/console/filtered-list.js';
import { ConsoleForm } from '#entrypoints/admin/console/pages/console-form.js';
import { CONSOLE_PARTS, type ConsolePage } from '#entrypoints/admin/console/pages/console-layout.js';
import {
  FilteredTable,
  Id,
  NameLink,
  Party,
  PartyName,
  pickFilter,
  stateFilter,
  type PartyNames,
} from '#entrypoints/admin/console/pages/lists.js';

export const REDIRECT_URIS_PATH = '/admin/console/redirect-uris';

/** Their part of the console. */
export const REDIRECT_URIS_PART = CONSOLE_PARTS.add(
  'To decide',
  { part: 'redirect-uris', icon: 'link', href: REDIRECT_URIS_PATH, label: 'Redirect URIs' },
  'approvals',
);

export const redirectUriPath = (id: string, part = ''): string =>
  `${REDIRECT_URIS_PATH}/${id}${part && `/${part}`}`;

const STATES: Record<RedirectUriRequestState, { label: string; tone: 'good' | 'warn' | 'bad' }> = {
  pending: { label: 'Pending', tone: 'warn' },
  approved: { label: 'Approved', tone: 'good' },
  rejected: { label: 'Rejected', tone: 'bad' },
};
const ACTIONS = { add: 'Register', remove: 'Remove' };

const StateWord = ({ state }: { state: RedirectUriRequestState }): VNode => (
  <State tone={STATES[state].tone}>{STATES[state].label}</State>
);

/** What partners asked for, newest first. */
export const redirectUriRequestsPage = (
  list: FilteredList<RedirectUriRequestEntity>,
  names: PartyNames,
  clients: Option[],
): ConsolePage => ({
  part: REDIRECT_URIS_PART,
  title: 'Redirect URIs',
  children: (
    <FilteredTable
      list={list}
      path={REDIRECT_URIS_PATH}
      ready={[{ label: 'Pending', set: { state: 'pending' } }]}
      filter={[
        pickFilter('client_id', 'Client', clients),
        stateFilter(REDIRECT_URI_REQUEST_STATES, (state) => STATES[state].label),
      ]}
      caption="Redirect URIs that partners ask for"
      empty="There are no requests."
      columns={[
        {
          head: 'Request',
          cell: ({ id, action, uri }) => (
            <a href={redirectUriPath(id)}>
              {ACTIONS[action]} <bdi>{uri}</bdi>
            </a>
          ),
        },
        { head: 'Client', cell: ({ clientId }) => <PartyName id={clientId} names={names} /> },
        { head: 'State', cell: ({ state }) => <StateWord state={state} />, onPhone: 'beside' },
        { head: 'Requested', cell: ({ requestedAt }) => <RecentMoment at={requestedAt} /> },
      ]}
    />
  ),
});

export interface RedirectUriRequestPageProps {
  request: RedirectUriRequestEntity;
  client: ClientEntity;
  /** What was typed as the reason of a rejection. */
  reason?: string;
  errors?: FieldErrors;
}

/** One request; while it is pending, with the forms to decide it. */
export function redirectUriRequestPage(props: RedirectUriRequestPageProps): ConsolePage {
  const { request, client, errors } = props;
  const { id, action, uri, state } = request;
  return {
    part: REDIRECT_URIS_PART,
    title: `${ACTIONS[action]} a redirect URI`,
    above: [{ href: REDIRECT_URIS_PATH, label: 'Redirect URIs' }],
    children: (
      <>
        {errors?.form && <ErrorNotice>{[errors.form].flat().join(' ')}</ErrorNotice>}
        <Facts
          facts={[
            ['ID', <Id id={id} />],
            ['Redirect URI', <code class="id">{uri}</code>],
            ['Client', <NameLink href={clientPath(client.id)} name={client.name} />],
            ['State', <StateWord state={state} />],
            ['Requested by', <Party id={request.requestedBy} />],
            ['Requested', <ExactMoment at={request.requestedAt} />],
            request.decidedById !== null && ['Decided by', <Party id={request.decidedById} />],
            request.decidedAt && ['Decided', <ExactMoment at={request.decidedAt} />],
            request.reason !== null && ['Reason', <bdi>{request.reason}</bdi>],
          ]}
        />
        <h2>Registered now</h2>
        {client.redirectUris.length === 0 ? (
          <p class="empty">The client has no redirect URIs.</p>
        ) : (
          <ul>
            {client.redirectUris.map((each) => (
              <li>
                <code class="id">{each}</code>
              </li>
            ))}
          </ul>
        )}
        {state === 'pending' && <Decision {...props} />}
      </>
    ),
  };
}

function Decision({
  request: { id, action },
  reason,
  errors = {},
}: RedirectUriRequestPageProps): VNode | null {
  const approve = redirectUriPath(id, 'approve');
  if (!useMayUse()('POST', approve)) return null;
  return (
    <>
      <p>
        {action === 'add'
          ? 'The owner of this address receives the codes of the client’s users. Nothing is changed until it is approved.'
          : 'Users can no longer be sent back to this address. Nothing is changed until it is approved.'}
      </p>
      <Buttons>
        <PostButton action={approve}>Approve</PostButton>
      </Buttons>
      <h2>Reject</h2>
      <ConsoleForm
        action={redirectUriPath(id, 'reject')}
        values={{ reason }}
        errors={errors['reason'] ? { reason: errors['reason'] } : {}}
        submit="Reject"
        isQuiet
      >
        <TextField name="reason" label="Reason" hint="May be empty. The partner reads it." />
      </ConsoleForm>
    </>
  );
}

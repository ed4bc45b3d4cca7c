import type { VNode } from 'preact';
import type { ClientEntity } from '#access/clients/client.entity.js';
import type { RedirectUriRequestEntity, RedirectUriRequestState } from './redirect-uri-request.entity.js';
import { TextField, type FieldErrors } from '#platform/web/forms/field.js';
import { PageForm, PostButton } from '#platform/web/forms/form.js';
import { ErrorNotice } from '#platform/web/layout/notices.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import { Table } from '#platform/web/tables/table.js';
import { AdminNotice, type AdminState } from '#entrypoints/webhook-portal/frame/admin-notice.js';
import { PORTAL_PARTS, type PortalPage } from '#entrypoints/webhook-portal/frame/portal-layout.js';

export const REDIRECT_URIS_PATH = '/portal/redirect-uris';

const PART = PORTAL_PARTS.add(
  'Client',
  { part: 'redirect-uris', icon: 'link', href: REDIRECT_URIS_PATH, label: 'Redirect URIs' },
  'credentials',
);

export interface RedirectUrisPageProps {
  client: ClientEntity;
  /** Newest first. */
  requests: RedirectUriRequestEntity[];
  state: AdminState;
  /** What was typed, and what is wrong with it. */
  uri?: string;
  errors?: FieldErrors;
}

const STATES: Record<RedirectUriRequestState, { label: string; tone: 'good' | 'warn' | 'bad' }> = {
  pending: { label: 'Waiting', tone: 'warn' },
  approved: { label: 'Approved', tone: 'good' },
  rejected: { label: 'Rejected', tone: 'bad' },
};

/** The registered redirect URIs, waiting requests, and the forms to request changes. */
export const redirectUrisPage = (props: RedirectUrisPageProps): PortalPage => ({
  title: 'Redirect URIs',
  part: PART,
  children: (
    <>
      {props.errors?.form && <ErrorNotice>{[props.errors.form].flat().join(' ')}</ErrorNotice>}
      <p>
        Users come back to one of these addresses after they have authorized the client.{' '}
        {props.client.environment === 'sandbox'
          ? 'In the sandbox, changes apply at once.'
          : 'An operator looks at every change before it applies.'}
      </p>
      <h2>Registered</h2>
      <Registered {...props} />
      <h2>Ask for another</h2>
      <AdminNotice state={props.state} what="ask for changes" path={REDIRECT_URIS_PATH} />
      {props.state === 'confirmed' && (
        <PageForm
          action={REDIRECT_URIS_PATH}
          values={{ uri: props.uri }}
          errors={props.errors?.uri ? { uri: props.errors.uri } : {}}
          submit="Ask for a redirect URI"
          noValidate
        >
          <TextField
            name="uri"
            label="Redirect URI"
            spellcheck={false}
            hint="https, without wildcards and fragments. It is compared as an exact text."
            required
          />
        </PageForm>
      )}
      <h2>Requests</h2>
      <Requests requests={props.requests} />
    </>
  ),
});

function Registered({ client, requests, state }: RedirectUrisPageProps): VNode {
  if (client.redirectUris.length === 0) return <p class="empty">No redirect URI is registered.</p>;
  const waiting = new Set(requests.filter((each) => each.state === 'pending').map(({ uri }) => uri));
  return (
    <ul class="entries" role="list">
      {client.redirectUris.map((uri) => (
        <li>
          <p>
            <code class="secret">{uri}</code>
          </p>
          {waiting.has(uri) ? (
            <State tone="warn">Removal waits</State>
          ) : (
            state === 'confirmed' && (
              <PostButton action={`${REDIRECT_URIS_PATH}/remove`} hidden={{ uri }} look="quiet">
                Ask to remove<span class="visually-hidden"> {uri}</span>
              </PostButton>
            )
          )}
        </li>
      ))}
    </ul>
  );
}

const Requests = ({ requests }: { requests: RedirectUriRequestEntity[] }): VNode =>
  requests.length === 0 ? (
    <p class="empty">Nothing was asked for.</p>
  ) : (
    <Table
      caption="Requests"
      rows={requests}
      columns={[
        { head: 'Redirect URI', cell: ({ uri }) => <code>{uri}</code> },
        { head: 'Asked', cell: ({ action }) => (action === 'add' ? 'to register' : 'to remove') },
        {
          head: 'State',
          cell: ({ state }) => <State tone={STATES[state].tone}>{STATES[state].label}</State>,
          under: ({ reason }) => reason && <bdi>{reason}</bdi>,
          onPhone: 'beside',
        },
        { head: 'Requested', cell: ({ requestedAt }) => <RecentMoment at={requestedAt} /> },
        {
          head: 'Decided',
          cell: ({ decidedAt }) => (decidedAt ? <RecentMoment at={decidedAt} /> : '–'),
          onPhone: 'unfolded',
        },
      ]}
      unfolds
    />
  );

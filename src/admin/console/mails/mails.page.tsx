import type { VNode } from 'preact';
import { MAIL_STATES, type MailEntity, type MailKind, type MailState } from '../../../mail/mail.entity.js';
import { TextField } from '../../../web/forms/field.js';
import { ExactMoment } from '../../../web/tables/moment.js';
import { State } from '../../../web/tables/state.js';
import type { FilteredList } from '../filtered-list.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { FilteredTable, StateFilter } from '../pages/lists.js';

const MAILS_PATH = '/admin/console/mails';

const KIND_LABELS: Record<MailKind, string> = {
  verify_email: 'Confirm an address',
  verify_contact: 'Confirm a contact of the portal',
  forgotten_password: 'Forgotten password',
  sign_up: 'Create an account',
  account_exists: 'Account exists already',
  security: 'Security of the account',
  application_connected: 'Client connected',
  actionable: 'Needs the user’s attention',
  endpoint_failing: 'Endpoint is failing',
  consents_ending: 'Consents end soon',
  endpoint_disabled: 'Endpoint was disabled',
  invitation: 'Invitation to an organisation',
  organisation: 'About an organisation of the user’s',
  data_export: 'Data to take along',
  account_deleted: 'Account deleted',
};

/** All mails, newest first. */
export const mailsPage = (list: FilteredList<MailEntity>): ConsolePage => ({
  part: 'mails',
  title: 'Mails',
  children: (
    <FilteredTable
      list={list}
      path={MAILS_PATH}
      filter={
        <>
          <TextField name="user_id" label="User ID" />
          <StateFilter states={MAIL_STATES} labelOf={(state) => STATE_LABELS[state]} />
        </>
      }
      caption="Mails"
      empty="There are no mails."
      columns={[
        {
          head: 'Mail',
          cell: ({ id, kind }) => (
            <>
              <strong>{KIND_LABELS[kind]}</strong>
              <code class="id under">{id}</code>
            </>
          ),
        },
        {
          head: 'To',
          cell: ({ address, userId, clientId }) => (
            <>
              <bdi>{address}</bdi>
              {userId && <For href={`/admin/console/users/${userId}`} id={userId} />}
              {clientId && <For href={`/admin/console/clients/${clientId}`} id={clientId} />}
            </>
          ),
        },
        { head: 'State', cell: (mail) => <MailStateCell mail={mail} /> },
        { head: 'Attempts', cell: ({ attempts }) => attempts },
        { head: 'Created', cell: ({ createdAt }) => <ExactMoment at={createdAt} /> },
        { head: 'Sent', cell: ({ sentAt }) => (sentAt ? <ExactMoment at={sentAt} /> : '–') },
      ]}
    />
  ),
});

const STATE_LABELS: Record<MailState, string> = { pending: 'Waiting', sent: 'Sent', failed: 'Failed' };
const TONES = { pending: 'plain', sent: 'good', failed: 'bad' } as const;

function MailStateCell({ mail: { state, lastError } }: { mail: MailEntity }): VNode {
  return (
    <>
      <State tone={TONES[state]}>{STATE_LABELS[state]}</State>
      {lastError && <span class="under muted">{lastError}</span>}
    </>
  );
}

const For = ({ href, id }: { href: string; id: string }): VNode => (
  <a class="under" href={href}>
    <code class="id">{id}</code>
  </a>
);

import { MAIL_STATES, type MailEntity, type MailKind, type MailState } from '#records/mail/mail.entity.js';
import type { Option } from '#platform/web/forms/field.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import type { FilteredList } from '../filtered-list.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { FilteredTable, Id, Party, stateFilter, type PartyNames } from '../pages/lists.js';

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
export const mailsPage = (
  list: FilteredList<MailEntity>,
  names: PartyNames,
  users: Option[],
): ConsolePage => ({
  part: 'mails',
  title: 'Mails',
  children: (
    <FilteredTable
      list={list}
      path={MAILS_PATH}
      ready={[
        { label: 'Failed', set: { state: 'failed' } },
        { label: 'Waiting', set: { state: 'pending' } },
      ]}
      filter={[
        { name: 'user_id', label: 'User ID', offers: users },
        stateFilter(MAIL_STATES, (state) => STATE_LABELS[state]),
      ]}
      caption="Mails"
      empty="There are no mails."
      columns={[
        {
          head: 'Mail',
          cell: ({ kind }) => <strong>{KIND_LABELS[kind]}</strong>,
          under: ({ id }) => <Id id={id} />,
        },
        {
          head: 'To',
          cell: ({ address }) => <bdi>{address}</bdi>,
          under: ({ userId, clientId }) =>
            [userId, clientId].map((id) => id !== null && <Party id={id} names={names} />),
        },
        {
          head: 'State',
          cell: ({ state }) => <State tone={TONES[state]}>{STATE_LABELS[state]}</State>,
          under: ({ lastError }) => lastError,
          onPhone: 'beside',
        },
        { head: 'Attempts', cell: ({ attempts }) => attempts, onPhone: 'unfolded' },
        { head: 'Created', cell: ({ createdAt }) => <RecentMoment at={createdAt} /> },
        {
          head: 'Sent',
          cell: ({ sentAt }) => (sentAt ? <RecentMoment at={sentAt} /> : '–'),
          onPhone: 'unfolded',
        },
      ]}
      unfolds
    />
  ),
});

const STATE_LABELS: Record<MailState, string> = { pending: 'Waiting', sent: 'Sent', failed: 'Failed' };
const TONES = { pending: 'plain', sent: 'good', failed: 'bad' } as const;

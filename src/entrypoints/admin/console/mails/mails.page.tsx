import type { VNode } from 'preact';
import { MAIL_STATES, type MailEntity, type MailKind, type MailState } from '#records/mail/mail.entity.js';
import type { Option } from '#platform/web/forms/field.js';
import { ExactMoment, RecentMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import type { FilteredList } from '../filtered-list.js';
import type { ConsolePage } from '../pages/console-layout.js';
import {
  FilteredTable,
  Id,
  PartyName,
  RowDetails,
  RowFact,
  stateFilter,
  type PartyNames,
} from '../pages/lists.js';

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
        },
        { head: 'To', cell: ({ address }) => <bdi>{address}</bdi> },
        {
          head: 'State',
          cell: ({ state }) => <State tone={TONES[state]}>{STATE_LABELS[state]}</State>,
          onPhone: 'beside',
        },
        { head: 'Created', cell: ({ createdAt }) => <RecentMoment at={createdAt} /> },
        { head: 'More', cell: (mail) => <Details mail={mail} names={names} />, onPhone: 'unfolded' },
      ]}
      unfolds
    />
  ),
});

function Details({ mail, names }: { mail: MailEntity; names: PartyNames }): VNode {
  const { id, userId, clientId, attempts, sentAt, lastError } = mail;
  return (
    <RowDetails>
      {[userId, clientId].map(
        (party) =>
          party !== null && (
            <RowFact name={party === userId ? 'user' : 'client'}>
              <PartyName id={party} names={names} /> <Id id={party} />
            </RowFact>
          ),
      )}
      <RowFact name="attempts">{attempts}</RowFact>
      {lastError && <RowFact name="error">{lastError}</RowFact>}
      {sentAt && (
        <RowFact name="sent">
          <ExactMoment at={sentAt} />
        </RowFact>
      )}
      <RowFact name="mail">
        <Id id={id} />
      </RowFact>
    </RowDetails>
  );
}

const STATE_LABELS: Record<MailState, string> = { pending: 'Waiting', sent: 'Sent', failed: 'Failed' };
const TONES = { pending: 'plain', sent: 'good', failed: 'bad' } as const;

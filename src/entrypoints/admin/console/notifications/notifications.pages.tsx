import {
  SelectField,
  TextArea,
  TextField,
  type Option,
  type FieldErrors,
} from '#platform/web/forms/field.js';
import type { VNode } from 'preact';
import { LinkButton } from '#platform/web/forms/form.js';
import { RecentMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import {
  NOTIFICATION_CATEGORIES,
  type NotificationEntity,
} from '#records/notifications/notification.entity.js';
import type { FilteredList } from '../filtered-list.js';
import { ConsoleForm } from '../pages/console-form.js';
import type { ConsolePage } from '../pages/console-layout.js';
import {
  FilteredTable,
  Id,
  PartyName,
  RowDetails,
  RowFact,
  pathWith,
  pickFilter,
  type PartyNames,
} from '../pages/lists.js';

export const NOTIFICATIONS_PATH = '/admin/console/notifications';

/** The fields of the form: the members of the admin API. */
export const NOTIFICATION_MEMBERS = [
  'user_id',
  'client_id',
  'message_id',
  'category',
  'short_text_title',
  'short_text_body',
  'detail_page_title',
  'detail_page_body',
  'external_link',
  'external_button_label',
] as const;

export type NotificationFields = Partial<Record<(typeof NOTIFICATION_MEMBERS)[number], string>>;

/** Users and clients by name, for the fields with their ids. */
interface OfferedParties {
  users: Option[];
  clients: Option[];
}

/** All notifications, newest first. */
export function notificationsPage(
  list: FilteredList<NotificationEntity>,
  names: PartyNames,
  offers: OfferedParties,
): ConsolePage {
  return {
    part: 'notifications',
    title: 'Notifications',
    actions: (
      <LinkButton
        href={pathWith(`${NOTIFICATIONS_PATH}/new`, {
          user_id: list.errors ? undefined : list.filter['user_id'],
        })}
      >
        Create notification
      </LinkButton>
    ),
    children: (
      <FilteredTable
        list={list}
        path={NOTIFICATIONS_PATH}
        filter={[
          { name: 'user_id', label: 'User ID', offers: offers.users },
          pickFilter('client_id', 'Client', offers.clients),
        ]}
        caption="Notifications"
        empty="There are no notifications."
        columns={[
          {
            head: 'Notification',
            cell: ({ shortTextTitle }) => <strong>{shortTextTitle}</strong>,
          },
          { head: 'Category', cell: ({ category }) => category, onPhone: 'unfolded' },
          {
            head: 'For',
            cell: ({ userId }) => <PartyName id={userId} names={names} />,
            onPhone: 'unfolded',
          },
          {
            head: 'State',
            cell: ({ readAt, resolvedAt }) =>
              resolvedAt ? (
                <State tone="good">Resolved</State>
              ) : readAt ? (
                <State tone="plain">Read</State>
              ) : (
                <State tone="warn">New</State>
              ),
            onPhone: 'beside',
          },
          { head: 'Time', cell: ({ eventTime }) => <RecentMoment at={eventTime} /> },
          {
            head: 'More',
            cell: (notification) => <Details notification={notification} names={names} />,
            onPhone: 'unfolded',
          },
        ]}
        unfolds
      />
    ),
  };
}

function Details(props: { notification: NotificationEntity; names: PartyNames }): VNode {
  const { notification, names } = props;
  const { id, userId, clientId, messageId, shortTextBody } = notification;
  return (
    <RowDetails>
      <RowFact name="text">{shortTextBody}</RowFact>
      <RowFact name="message">
        <code>{messageId}</code>
      </RowFact>
      <RowFact name="user">
        <Id id={userId} />
      </RowFact>
      {clientId !== null && (
        <RowFact name="client">
          <PartyName id={clientId} names={names} /> <Id id={clientId} />
        </RowFact>
      )}
      <RowFact name="notification">
        <Id id={id} />
      </RowFact>
    </RowDetails>
  );
}

const CATEGORY_LABELS: Record<(typeof NOTIFICATION_CATEGORIES)[number], string> = {
  ACTIONABLE: 'ACTIONABLE: needs the user’s attention',
  SERVICE: 'SERVICE: about the account',
  RETRY: 'RETRY: resolves automatically',
  MARKETING: 'MARKETING: news',
  INTERNAL: 'INTERNAL: for information',
};

export interface NewNotificationPageProps {
  fields: NotificationFields;
  offers: OfferedParties;
  errors?: FieldErrors;
}

/** The form for creating a notification for a user. */
export function newNotificationPage({ fields, offers, errors }: NewNotificationPageProps): ConsolePage {
  const text = (name: keyof NotificationFields, label: string, hint?: string) => (
    <TextField name={name} label={label} hint={hint} />
  );
  return {
    part: 'notifications',
    title: 'Create notification',
    above: [{ href: NOTIFICATIONS_PATH, label: 'Notifications' }],
    children: (
      <ConsoleForm
        values={{ ...fields }}
        errors={errors}
        action={`${NOTIFICATIONS_PATH}/new`}
        submit="Create notification"
        cancel={NOTIFICATIONS_PATH}
      >
        <TextField name="user_id" label="User ID" offers={offers.users} />
        <TextField
          name="client_id"
          label="Client ID (optional)"
          hint="Its tokens may read the notification too. Leave empty to show it only to the user."
          offers={offers.clients}
        />
        {text(
          'message_id',
          'Message ID',
          'ERR and up to 10 digits: the same for every notification of this kind.',
        )}
        <SelectField
          name="category"
          label="Category"
          options={NOTIFICATION_CATEGORIES.map((value) => ({ value, label: CATEGORY_LABELS[value] }))}
        />
        {text('short_text_title', 'Title')}
        <TextArea name="short_text_body" label="Text" />
        {text('detail_page_title', 'Details title (optional)')}
        <TextArea name="detail_page_body" label="Details (optional)" />
        {text('external_link', 'Link (optional)', 'An https or http address.')}
        {text('external_button_label', 'Link text (optional)')}
      </ConsoleForm>
    ),
  };
}

import { ExactMoment } from '../../../http/pages/moment.js';
import type { Page } from '../../../http/paging.js';
import {
  NOTIFICATION_CATEGORIES,
  type NotificationEntity,
} from '../../../notifications/notification.entity.js';
import type { FieldErrors } from '../form-attempt.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { renderConsolePage } from '../pages/console-layout.js';
import { ConsoleForm, SelectField, TextArea, TextField } from '../pages/form-fields.js';
import { FilterForm, PagedTable, pathWith, State } from '../pages/lists.js';

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

export interface NotificationsPageProps {
  layoutProps: UserLayoutProps;
  filter: { userId?: string; clientId?: string };
  page: Page<NotificationEntity>;
  errors?: FieldErrors;
}

/** All notifications, newest first. */
export function notificationsPage({ layoutProps, filter, page, errors }: NotificationsPageProps): string {
  const { userId, clientId } = filter;
  return renderConsolePage({
    layoutProps,
    part: 'notifications',
    title: 'Notifications',
    actions: (
      <a
        class="button-link"
        href={pathWith(`${NOTIFICATIONS_PATH}/new`, { user_id: errors ? undefined : userId })}
      >
        Create notification{' '}
      </a>
    ),
    children: (
      <>
        <FilterForm path={NOTIFICATIONS_PATH} isFiltered={!!userId || !!clientId} errors={errors}>
          <TextField name="user_id" label="User ID" value={userId} errors={errors} />
          <TextField name="client_id" label="Client ID" value={clientId} errors={errors} />
        </FilterForm>
        {!errors && (
          <PagedTable
            caption="Notifications"
            page={page}
            idOf={({ id }) => id}
            path={pathWith(NOTIFICATIONS_PATH, { user_id: userId, client_id: clientId })}
            empty="There are no notifications."
            columns={[
              {
                head: 'Notification',
                cell: ({ shortTextTitle, shortTextBody, messageId }) => (
                  <>
                    <strong>{shortTextTitle}</strong> <code>{messageId}</code>
                    <span class="under muted">{shortTextBody}</span>
                  </>
                ),
              },
              { head: 'Category', cell: ({ category }) => category },
              {
                head: 'For',
                cell: ({ userId: user, clientId: client }) => (
                  <>
                    <a href={`/admin/console/users/${user}`}>
                      <code class="id">{user}</code>
                    </a>
                    {client && (
                      <a class="under" href={`/admin/console/clients/${client}`}>
                        <code class="id">{client}</code>
                      </a>
                    )}
                  </>
                ),
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
              },
              { head: 'Time', cell: ({ eventTime }) => <ExactMoment at={eventTime} /> },
            ]}
          />
        )}
      </>
    ),
  });
}

const CATEGORY_WORDS: Record<(typeof NOTIFICATION_CATEGORIES)[number], string> = {
  ACTIONABLE: 'ACTIONABLE: needs the user’s attention',
  SERVICE: 'SERVICE: about the account',
  RETRY: 'RETRY: resolves automatically',
  MARKETING: 'MARKETING: news',
  INTERNAL: 'INTERNAL: for information',
};

export interface NewNotificationPageProps {
  layoutProps: UserLayoutProps;
  fields: NotificationFields;
  csrfToken: string;
  errors?: FieldErrors;
}

/** The form for creating a notification for a user. */
export function newNotificationPage({
  layoutProps,
  fields,
  csrfToken,
  errors,
}: NewNotificationPageProps): string {
  const text = (name: keyof NotificationFields, label: string, hint?: string) => (
    <TextField name={name} label={label} hint={hint} value={fields[name]} errors={errors} />
  );
  return renderConsolePage({
    layoutProps,
    part: 'notifications',
    title: 'Create notification',
    above: [{ href: NOTIFICATIONS_PATH, label: 'Notifications' }],
    children: (
      <ConsoleForm
        action={`${NOTIFICATIONS_PATH}/new`}
        csrfToken={csrfToken}
        errors={errors}
        submit="Create notification"
        cancel={{ href: NOTIFICATIONS_PATH }}
      >
        {text('user_id', 'User ID')}
        {text(
          'client_id',
          'Client ID (optional)',
          'Its tokens may read the notification too. Leave empty to show it only to the user.',
        )}
        {text(
          'message_id',
          'Message ID',
          'ERR and up to 10 digits: the same for every notification of this kind.',
        )}
        <SelectField
          name="category"
          label="Category"
          value={fields.category}
          errors={errors}
          options={NOTIFICATION_CATEGORIES.map((value) => ({ value, label: CATEGORY_WORDS[value] }))}
        />
        {text('short_text_title', 'Title')}
        <TextArea name="short_text_body" label="Text" value={fields.short_text_body} errors={errors} />
        {text('detail_page_title', 'Details title (optional)')}
        <TextArea
          name="detail_page_body"
          label="Details (optional)"
          value={fields.detail_page_body}
          errors={errors}
        />
        {text('external_link', 'Link (optional)', 'An https or http address.')}
        {text('external_button_label', 'Link text (optional)')}
      </ConsoleForm>
    ),
  });
}

import type { VNode } from 'preact';
import { PostForm } from '../../web/forms/form.js';
import { Moment } from '../../web/tables/moment.js';
import { PagedList } from '../../web/tables/pager.js';
import type { Page } from '../../database/queries/read-page.js';
import type { NotificationCategory, NotificationEntity } from '../../notifications/notification.entity.js';
import type { AccountPage } from './account-layout.js';

export interface NotificationsPageProps {
  notifications: Page<NotificationEntity>;
  /** Path to return to after marking a notification. */
  returnTo: string;
}

const PATH = '/account/notifications';

/** What the categories mean to the user. */
const CATEGORIES: Record<NotificationCategory, string> = {
  ACTIONABLE: 'Needs your attention',
  SERVICE: 'About your account',
  RETRY: 'Resolves automatically',
  MARKETING: 'News',
  INTERNAL: 'For information',
};

/** All notifications of the user, newest first. */
export function notificationsPage({ notifications, returnTo }: NotificationsPageProps): AccountPage {
  return {
    title: 'Notifications',
    part: 'notifications',
    children: (
      <PagedList
        page={notifications}
        path={PATH}
        label="More notifications"
        empty="There are no notifications. Important events in your account appear here."
      >
        <ul class="entries" role="list">
          {notifications.items.map((notification) => (
            <Notification notification={notification} returnTo={returnTo} />
          ))}
        </ul>
      </PagedList>
    ),
  };
}

interface NotificationProps {
  notification: NotificationEntity;
  returnTo: string;
}

function Notification(props: NotificationProps): VNode {
  const { notification } = props;
  return (
    <li class={notification.readAt ? undefined : 'unread'}>
      <h2>{notification.shortTextTitle}</h2>
      <p class="entry-meta">
        {!notification.readAt && <span class="badge badge-strong">New</span>}
        {notification.resolvedAt ? (
          <span class="badge">Resolved</span>
        ) : (
          <span class="badge">{CATEGORIES[notification.category]}</span>
        )}
        <Moment at={notification.eventTime} />
      </p>
      <p>{notification.shortTextBody}</p>
      {notification.detailPageBody && (
        <details>
          <summary>{notification.detailPageTitle ?? 'More about this'}</summary>
          <p class="long-text">{notification.detailPageBody}</p>
        </details>
      )}
      <ExternalLink notification={notification} />
      <Marks {...props} />
    </li>
  );
}

function ExternalLink({ notification }: { notification: NotificationEntity }): VNode | null {
  const { externalLink, externalButtonLabel } = notification;
  if (!externalLink || !/^https?:\/\//i.test(externalLink)) return null;
  return (
    <p>
      <a href={externalLink} rel="noopener noreferrer external">
        {externalButtonLabel ?? externalLink}
      </a>
    </p>
  );
}

/** The buttons for notifications that are unread, or unresolved. */
function Marks({ notification, returnTo }: NotificationProps): VNode | null {
  const { id, readAt, resolvedAt, shortTextTitle } = notification;
  if (readAt && resolvedAt) return null;
  return (
    <PostForm action={`${PATH}/${id}`} class="entry-actions" hidden={{ return_to: returnTo }}>
      {!readAt && (
        <button type="submit" class="quiet" name="mark" value="read">
          Mark as read<span class="visually-hidden">: {shortTextTitle}</span>
        </button>
      )}
      {!resolvedAt && (
        <button type="submit" class="quiet" name="mark" value="resolved">
          Mark as resolved<span class="visually-hidden">: {shortTextTitle}</span>
        </button>
      )}
    </PostForm>
  );
}

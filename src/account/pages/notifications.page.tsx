import type { VNode } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import type { Page } from '../../http/paging.js';
import type { NotificationCategory, NotificationEntity } from '../../notifications/notification.entity.js';
import type { UserLayoutProps } from '../../users/user-page-context.js';
import { renderAccountPage } from './account-layout.js';
import { Moment } from '../../http/pages/moment.js';
import { NothingHere, Pager } from '../../http/pages/pager.js';

export interface NotificationsPageProps {
  layoutProps: UserLayoutProps;
  notifications: Page<NotificationEntity>;
  /** Path to return to after marking a notification. */
  returnTo: string;
  /** The CSRF token of the forms of one notification. */
  tokenOf: (id: string) => string;
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
export function notificationsPage(props: NotificationsPageProps): string {
  const { layoutProps, notifications } = props;
  return renderAccountPage({
    ...layoutProps,
    title: 'Notifications',
    part: 'notifications',
    children: (
      <>
        {notifications.items.length === 0 ? (
          <NothingHere
            page={notifications}
            path={PATH}
            words="There are no notifications. Important events in your account appear here."
          />
        ) : (
          <ul class="entries" role="list">
            {notifications.items.map((notification) => (
              <Notification {...props} notification={notification} />
            ))}
          </ul>
        )}
        <Pager page={notifications} path={PATH} label="More notifications" />
      </>
    ),
  });
}

interface NotificationProps extends NotificationsPageProps {
  notification: NotificationEntity;
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

function ExternalLink({
  notification: { externalLink, externalButtonLabel },
}: NotificationLinkProps): VNode | null {
  if (!externalLink || !/^https?:\/\//i.test(externalLink)) return null;
  return (
    <p>
      <a href={externalLink} rel="noopener noreferrer external">
        {externalButtonLabel ?? externalLink}
      </a>
    </p>
  );
}

interface NotificationLinkProps {
  notification: NotificationEntity;
}

/** The buttons for notifications that are unread, or unresolved. */
function Marks({ notification, returnTo, tokenOf }: NotificationProps): VNode | null {
  const { id, readAt, resolvedAt, shortTextTitle } = notification;
  if (readAt && resolvedAt) return null;
  return (
    <form method="post" action={`${PATH}/${id}`} class="entry-actions">
      <CsrfField token={tokenOf(id)} />
      <input type="hidden" name="return_to" value={returnTo} />
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
    </form>
  );
}

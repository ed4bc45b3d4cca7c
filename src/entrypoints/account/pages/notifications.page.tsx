import type { VNode } from 'preact';
import type { Language } from '#platform/language/languages.js';
import { say } from '#platform/language/text.js';
import { PostButton } from '#platform/web/forms/form.js';
import { Say, useText } from '#platform/web/layout/say.js';
import { Moment } from '#platform/web/tables/moment.js';
import { PagedList } from '#platform/web/tables/pager.js';
import type { Page } from '#platform/database/queries/read-page.js';
import type { NotificationCategory, NotificationEntity } from '#records/notifications/notification.entity.js';
import { textsIn } from '#records/notifications/notification-texts.js';
import { OpeningRow, RowLinks, type AccountPage } from './account-layout.js';
import { hidden } from './message-parts.js';

export interface NotificationsPageProps {
  notifications: Page<NotificationEntity>;
  language: Language;
  /** Path to return to after marking a notification. */
  returnTo: string;
}

const PATH = '/account/notifications';

/** What the categories mean to the user. */
const CATEGORIES: Record<NotificationCategory, string> = {
  ACTIONABLE: say('Needs your attention'),
  SERVICE: say('About your account'),
  RETRY: say('Resolves automatically'),
  MARKETING: say('News'),
  INTERNAL: say('For information'),
};

/** All notifications of the user, newest first. */
export const notificationsPage = (props: NotificationsPageProps): AccountPage => ({
  title: say('Notifications'),
  part: 'notifications',
  children: <Notifications {...props} />,
});

function Notifications({ notifications, language, returnTo }: NotificationsPageProps): VNode {
  const t = useText();
  return (
    <>
      <RowLinks
        links={[{ href: '/account/email', label: t('Email'), about: t('Where mails go, and which you get') }]}
      />
      <PagedList
        page={notifications}
        path={PATH}
        label={t('More notifications')}
        empty={t('There are no notifications. Important events in your account appear here.')}
      >
        <ul class="rows" role="list">
          {notifications.items.map((notification) => (
            <Notification
              notification={notification}
              texts={textsIn(language, notification)}
              returnTo={returnTo}
            />
          ))}
        </ul>
        <MarkAllAsRead notifications={notifications} />
      </PagedList>
    </>
  );
}

/** On the first page, which has the newest one. */
function MarkAllAsRead({ notifications }: Pick<NotificationsPageProps, 'notifications'>): VNode | null {
  const t = useText();
  const { items, hasPrevious } = notifications;
  if (hasPrevious || items.every(({ readAt }) => readAt !== null)) return null;
  return (
    <PostButton
      action={`${PATH}/mark_all_read`}
      class="entry-actions"
      look="quiet"
      hidden={{ until: items[0]!.id }}
    >
      {t('Mark all as read')}
    </PostButton>
  );
}

interface NotificationProps {
  notification: NotificationEntity;
  texts: ReturnType<typeof textsIn>;
  returnTo: string;
}

function Notification(props: NotificationProps): VNode {
  const { notification, texts } = props;
  const t = useText();
  // Texts by operators are in an unknown language.
  const lang = texts.language;
  return (
    <OpeningRow
      title={
        <h2 class="row-title" lang={lang}>
          {texts.shortTextTitle}
        </h2>
      }
      mark={!notification.readAt && t('New')}
      at={notification.eventTime}
    >
      <p class="entry-meta">
        <span class="badge">
          {notification.resolvedAt ? t('Resolved') : t(CATEGORIES[notification.category])}
        </span>
        <Moment at={notification.eventTime} />
      </p>
      <p lang={lang}>{texts.shortTextBody}</p>
      {texts.detailPageTitle !== null && <h3 lang={lang}>{texts.detailPageTitle}</h3>}
      {texts.detailPageBody && (
        <p class="long-text" lang={lang}>
          {texts.detailPageBody}
        </p>
      )}
      <ExternalLink notification={notification} />
      <Mark {...props} />
    </OpeningRow>
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

/** The one thing to do: what needs attention is resolved, and anything else is read. */
function Mark({ notification, texts, returnTo }: NotificationProps): VNode | null {
  const { id, category, readAt, resolvedAt } = notification;
  const title = texts.shortTextTitle;
  const isOpen = category === 'ACTIONABLE' && !resolvedAt;
  if (readAt && !isOpen) return null;
  return (
    <PostButton
      action={`${PATH}/${id}`}
      class="entry-actions"
      look="quiet"
      hidden={{ return_to: returnTo, mark: isOpen ? 'resolved' : 'read' }}
    >
      {isOpen ? (
        <Say it="Mark as resolved<hidden>: {title}</hidden>" with={{ title, hidden }} />
      ) : (
        <Say it="Mark as read<hidden>: {title}</hidden>" with={{ title, hidden }} />
      )}
    </PostButton>
  );
}

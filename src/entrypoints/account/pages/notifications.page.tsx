import type { VNode } from 'preact';
import type { Language } from '#platform/language/languages.js';
import { say } from '#platform/language/text.js';
import { PostForm } from '#platform/web/forms/form.js';
import { Say, useText } from '#platform/web/layout/say.js';
import { Moment } from '#platform/web/tables/moment.js';
import { PagedList } from '#platform/web/tables/pager.js';
import type { Page } from '#platform/database/queries/read-page.js';
import type { NotificationCategory, NotificationEntity } from '#records/notifications/notification.entity.js';
import { textsIn } from '#records/notifications/notification-texts.js';
import { RowLinks, type AccountPage } from './account-layout.js';
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
        <ul class="entries" role="list">
          {notifications.items.map((notification) => (
            <Notification
              notification={notification}
              texts={textsIn(language, notification)}
              returnTo={returnTo}
            />
          ))}
        </ul>
      </PagedList>
    </>
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
    <li class={notification.readAt ? undefined : 'unread'}>
      <h2 lang={lang}>{texts.shortTextTitle}</h2>
      <p class="entry-meta">
        {!notification.readAt && <span class="badge">{t('New')}</span>}
        {notification.resolvedAt ? (
          <span class="badge">{t('Resolved')}</span>
        ) : (
          <span class="badge">{t(CATEGORIES[notification.category])}</span>
        )}
        <Moment at={notification.eventTime} />
      </p>
      <p lang={lang}>{texts.shortTextBody}</p>
      {texts.detailPageBody && (
        <details>
          {texts.detailPageTitle === null ? (
            <summary>{t('More about this')}</summary>
          ) : (
            <summary lang={lang}>{texts.detailPageTitle}</summary>
          )}
          <p class="long-text" lang={lang}>
            {texts.detailPageBody}
          </p>
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
function Marks({ notification, texts, returnTo }: NotificationProps): VNode | null {
  const { id, readAt, resolvedAt } = notification;
  const title = texts.shortTextTitle;
  if (readAt && resolvedAt) return null;
  return (
    <PostForm action={`${PATH}/${id}`} class="entry-actions" hidden={{ return_to: returnTo }}>
      {!readAt && (
        <button type="submit" class="quiet" name="mark" value="read">
          <Say it="Mark as read<hidden>: {title}</hidden>" with={{ title, hidden }} />
        </button>
      )}
      {!resolvedAt && (
        <button type="submit" class="quiet" name="mark" value="resolved">
          <Say it="Mark as resolved<hidden>: {title}</hidden>" with={{ title, hidden }} />
        </button>
      )}
    </PostForm>
  );
}

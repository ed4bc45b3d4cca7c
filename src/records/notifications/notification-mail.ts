import { said, say, type Shown } from '#platform/language/text.js';
import type { MailText } from '#records/mail/mail-content.js';
import type { Message, NotificationMailKind } from './message-catalogue.js';

/** A notification of the service, or one that an operator wrote. */
export type MailedNotification = Message & { externalLink?: string | null; externalButtonLabel?: string };

/** The kind of mail for a notification; undefined if it is not mailed. */
export function mailKindOf({ mail, category }: Message): NotificationMailKind | undefined {
  return mail ?? (category === 'ACTIONABLE' ? 'actionable' : undefined);
}

const WHY: Record<NotificationMailKind, string> = {
  security: say('You always get mail about the security of your account.'),
  organisation: say('You always get mail about your access to the organisations that you belong to.'),
  application_connected: say(
    'You get this mail because you want to know about new applications. Change that here:',
  ),
  actionable: say('You get this mail because you want to know what needs your attention. Change that here:'),
};

/** Renders a notification as a mail, with the organisation behind the application that it is about. */
export function notificationMail(
  kind: NotificationMailKind,
  message: MailedNotification,
  baseUrl: string,
): MailText {
  const { shortTextTitle, shortTextBody, detailPageTitle, detailPageBody, externalLink } = message;
  const { name, organisation } = message.application ?? {};
  const behind =
    name !== undefined && organisation && said('“{name}” is by {organisation}.', { name, organisation });
  const link = externalLink && /^https?:\/\//i.test(externalLink) ? externalLink : undefined;
  return {
    subject: shortTextTitle,
    application: message.application,
    paragraphs: [shortTextBody, behind, detailPageTitle, detailPageBody].filter(
      (text): text is Shown => !!text,
    ),
    action: link
      ? { label: message.externalButtonLabel ?? say('Open'), url: link }
      : { label: say('Open your account'), url: `${baseUrl}/account/notifications` },
    footer: [
      WHY[kind],
      ...(kind === 'security' || kind === 'organisation' ? [] : [`${baseUrl}/account/email`]),
    ],
  };
}

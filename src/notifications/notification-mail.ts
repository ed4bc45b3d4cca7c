import { legible } from '../http/validation/legible-text.js';
import type { MailText } from '../mail/mail-content.js';
import type { Message } from './message-catalogue.js';

type NotificationMailKind = 'security' | 'organisation' | 'application_connected' | 'actionable';

/** The kind of mail that tells of a notification; undefined if none does. */
export function mailKindOf({ mail, category }: Message): NotificationMailKind | undefined {
  if (mail === 'security' || mail === 'organisation') return mail;
  if (category === 'ACTIONABLE') return 'actionable';
  return mail === 'optional' ? 'application_connected' : undefined;
}

const WHY: Record<NotificationMailKind, string> = {
  security: 'You always get mail about the security of your account.',
  organisation: 'You always get mail about your access to the organisations that you belong to.',
  application_connected:
    'You get this mail because you want to know about new applications. Change that here:',
  actionable: 'You get this mail because you want to know what needs your attention. Change that here:',
};

/** Says in a mail what the notification says on the account page. */
export function notificationMail(
  kind: NotificationMailKind,
  message: Message & { externalLink?: string | null; externalButtonLabel?: string },
  baseUrl: string,
): MailText {
  const { shortTextTitle, shortTextBody, detailPageTitle, detailPageBody, externalLink } = message;
  const link = externalLink && /^https?:\/\//i.test(externalLink) ? externalLink : undefined;
  return {
    subject: shortTextTitle,
    paragraphs: [shortTextBody, detailPageTitle ?? '', detailPageBody ?? ''].flatMap((text) =>
      text === '' ? [] : [legibleLines(text)],
    ),
    action: link
      ? { label: message.externalButtonLabel ?? 'Open', url: link }
      : { label: 'Open your account', url: `${baseUrl}/account/notifications` },
    footer: [
      WHY[kind],
      ...(kind === 'security' || kind === 'organisation' ? [] : [`${baseUrl}/account/email`]),
    ],
  };
}

const legibleLines = (text: string): string => text.split('\n').map(legible).join('\n');

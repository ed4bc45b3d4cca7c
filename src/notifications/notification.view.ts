import type { NotificationEntity } from './notification.entity.js';

/**
 * A notification on the wire (source specification §2.4): optional members without a value are omitted, except `external_link`.
 */
export interface NotificationView {
  id: string;
  url: string;
  message_id: string;
  category: string;
  event_time: string;
  short_text_title: string;
  short_text_body: string;
  detail_page_title?: string;
  detail_page_body?: string;
  external_link: string | null;
  external_button_label?: string;
  read_at?: string;
  resolved_at?: string;
}

export function notificationView(notification: NotificationEntity, baseUrl: string): NotificationView {
  return {
    id: notification.id,
    url: `${baseUrl}/notifications/${notification.id}`,
    message_id: notification.messageId,
    category: notification.category,
    event_time: notification.eventTime.toISOString(),
    short_text_title: notification.shortTextTitle,
    short_text_body: notification.shortTextBody,
    ...present('detail_page_title', notification.detailPageTitle),
    ...present('detail_page_body', notification.detailPageBody),
    external_link: notification.externalLink,
    ...present('external_button_label', notification.externalButtonLabel),
    ...present('read_at', notification.readAt?.toISOString()),
    ...present('resolved_at', notification.resolvedAt?.toISOString()),
  };
}

const present = <K extends string>(name: K, value: string | null | undefined): { [P in K]?: string } =>
  (value === null || value === undefined ? {} : { [name]: value }) as { [P in K]?: string };

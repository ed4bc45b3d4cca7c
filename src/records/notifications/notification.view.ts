import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { idOf, oneOf, optional, orNull, text, time, url } from '#platform/http/api/api-schemas.js';
import type { Language } from '#platform/language/languages.js';
import { textsIn } from './notification-texts.js';
import { NOTIFICATION_CATEGORIES, type NotificationEntity } from './notification.entity.js';

/**
 * A notification on the wire (source specification §2.4): optional members without a value are omitted, except `external_link`.
 */
@ApiSchema({ name: 'Notification' })
export class NotificationView {
  @ApiProperty(idOf('notf')) id!: string;
  @ApiProperty(url('The URL of this notification.')) url!: string;

  @ApiProperty(text('Identifies the kind of message.', { pattern: '^ERR[0-9]{1,10}$', example: 'ERR1001' }))
  message_id!: string;

  @ApiProperty(oneOf(...NOTIFICATION_CATEGORIES)) category!: string;
  @ApiProperty(time()) event_time!: string;
  @ApiProperty(text(undefined, { example: 'Too many requests' })) short_text_title!: string;
  @ApiProperty(text()) short_text_body!: string;
  @ApiProperty(optional(text())) detail_page_title?: string;
  @ApiProperty(optional(text())) detail_page_body?: string;
  @ApiProperty(orNull(text())) external_link!: string | null;
  @ApiProperty(optional(text())) external_button_label?: string;
  @ApiProperty(optional(time('When the user read it.'))) read_at?: string;
  @ApiProperty(optional(time('When the associated problem was resolved.'))) resolved_at?: string;
}

/** `language`: of the reader. */
export function notificationView(
  notification: NotificationEntity,
  baseUrl: string,
  language: Language = 'en',
): NotificationView {
  const texts = textsIn(language, notification);
  return {
    id: notification.id,
    url: `${baseUrl}/notifications/${notification.id}`,
    message_id: notification.messageId,
    category: notification.category,
    event_time: notification.eventTime.toISOString(),
    short_text_title: texts.shortTextTitle,
    short_text_body: texts.shortTextBody,
    ...present('detail_page_title', texts.detailPageTitle),
    ...present('detail_page_body', texts.detailPageBody),
    external_link: notification.externalLink,
    ...present('external_button_label', notification.externalButtonLabel),
    ...present('read_at', notification.readAt?.toISOString()),
    ...present('resolved_at', notification.resolvedAt?.toISOString()),
  };
}

const present = <K extends string>(name: K, value: string | null | undefined): { [P in K]?: string } =>
  (value === null || value === undefined ? {} : { [name]: value }) as { [P in K]?: string };

import { NOTIFICATION_CATEGORIES, type NotificationCategory } from '../notifications/notification.entity.js';
import type { NewNotification } from '../notifications/notifications.service.js';
import { PageQuery } from '../http/paging.js';
import {
  IsIdOf,
  IsMessageId,
  IsOneOf,
  IsText,
  IsTime,
  IsVisibleText,
  IsWebAddress,
  MayBeLeftOut,
  MayBeNull,
} from '../http/member-rules.decorator.js';

/** Query of `GET /admin/notifications`; each member narrows the list. */
export class NotificationsQuery extends PageQuery {
  @MayBeLeftOut()
  @IsIdOf('user', 'user')
  user_id?: string;

  @MayBeLeftOut()
  @IsIdOf('clnt', 'client')
  client_id?: string;
}

/** Body of `POST /admin/notifications`: a user, and the members of source specification §2.4. */
export class NewNotificationDto {
  @IsIdOf('user', 'user')
  user_id!: string;

  /** The client that it concerns, whose tokens may see it; without one only the user's own page shows it. */
  @MayBeNull()
  @IsIdOf('clnt', 'client')
  client_id?: string | null;

  @IsMessageId()
  message_id!: string;

  @IsOneOf(...NOTIFICATION_CATEGORIES)
  category!: NotificationCategory;

  /** Left out: now. */
  @MayBeLeftOut()
  @IsTime()
  event_time?: string;

  @IsVisibleText(1, 200)
  short_text_title!: string;

  @IsVisibleText(1, 1000)
  short_text_body!: string;

  @MayBeLeftOut()
  @IsVisibleText(1, 200)
  detail_page_title?: string;

  @MayBeLeftOut()
  @IsText(1, 10_000)
  detail_page_body?: string;

  @MayBeNull()
  @IsWebAddress()
  external_link?: string | null;

  @MayBeLeftOut()
  @IsVisibleText(1, 100)
  external_button_label?: string;
}

export const toNewNotification = (body: NewNotificationDto): NewNotification => ({
  userId: body.user_id,
  clientId: body.client_id ?? null,
  messageId: body.message_id,
  category: body.category,
  ...(body.event_time === undefined ? {} : { eventTime: new Date(body.event_time) }),
  shortTextTitle: body.short_text_title,
  shortTextBody: body.short_text_body,
  detailPageTitle: body.detail_page_title,
  detailPageBody: body.detail_page_body,
  externalLink: body.external_link ?? null,
  externalButtonLabel: body.external_button_label,
});

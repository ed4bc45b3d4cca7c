import { ApiProperty } from '@nestjs/swagger';
import {
  NOTIFICATION_CATEGORIES,
  type NotificationCategory,
} from '#records/notifications/notification.entity.js';
import type { NewNotification } from '#records/notifications/notifications.service.js';
import { PageQuery } from '#platform/http/api/page-query.js';
import {
  IsIdOf,
  IsMessageId,
  IsOneOf,
  IsTime,
  IsVisibleText,
  AreLines,
  AreVisibleLines,
  IsWebAddress,
  IsOptionalNotNull,
  MayBeNull,
} from '#platform/http/validation/validation.decorators.js';

/** Query of `GET /admin/notifications`; all given members must match. */
export class NotificationsQuery extends PageQuery {
  @IsOptionalNotNull() @IsIdOf('user', 'user') user_id?: string;
  @IsOptionalNotNull() @IsIdOf('clnt', 'client') client_id?: string;
}

/** Body of `POST /admin/notifications`: a user, and the members of source specification §2.4. */
export class NewNotificationDto {
  @IsIdOf('user', 'user') user_id!: string;

  @ApiProperty({
    description:
      'The client it is about, whose tokens may read it; without one, only the user’s own page shows it.',
  })
  @MayBeNull()
  @IsIdOf('clnt', 'client')
  client_id?: string | null;

  @IsMessageId() message_id!: string;
  @IsOneOf(...NOTIFICATION_CATEGORIES) category!: NotificationCategory;
  @ApiProperty({ description: 'Defaults to now.' }) @IsOptionalNotNull() @IsTime() event_time?: string;
  @IsVisibleText(1, 200) short_text_title!: string;
  @AreVisibleLines(1, 1000) short_text_body!: string;
  @IsOptionalNotNull() @IsVisibleText(1, 200) detail_page_title?: string;
  @IsOptionalNotNull() @AreLines(1, 10_000) detail_page_body?: string;
  @MayBeNull() @IsWebAddress() external_link?: string | null;
  @IsOptionalNotNull() @IsVisibleText(1, 100) external_button_label?: string;
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

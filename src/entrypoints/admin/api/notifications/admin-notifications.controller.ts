import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Actor } from '#records/audit/audit.service.js';
import { Settings } from '#platform/config/settings.js';
import { ApiAnswer, ApiPage } from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import type { NotificationEntity } from '#records/notifications/notification.entity.js';
import { notificationView, NotificationView } from '#records/notifications/notification.view.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { OperatorProtectionService } from '#access/users/accounts/operator-protection.service.js';
import { idOf, orNull } from '#platform/http/api/api-schemas.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { NewNotificationDto, NotificationsQuery, toNewNotification } from './admin-notifications.dto.js';

/** A notification as operators see it, with its user and the client it is about. */
@ApiSchema({ name: 'AdminNotification' })
class AdminNotificationView extends NotificationView {
  @ApiProperty(idOf('user')) user_id!: string;
  @ApiProperty(orNull(idOf('clnt'))) client_id!: string | null;
}

/** Notifications in the admin API (contract §12). */
@Controller('admin/notifications')
@AdminApi()
export class AdminNotificationsController {
  constructor(
    private readonly settings: Settings,
    private readonly notifications: NotificationsService,
    private readonly protection: OperatorProtectionService,
  ) {}

  @Post()
  @AdminWrite(
    'raiseNotification',
    'Create a notification for a user',
    'Without `client_id`, only the user’s own page shows it. An unknown user or client: 400.',
    'support',
  )
  @ApiAnswer(201, 'The notification.', AdminNotificationView)
  async raise(
    @Body() body: NewNotificationDto,
    @CurrentActor() actor: Actor,
  ): Promise<AdminNotificationView> {
    await this.protection.refuseOn(actor, body.user_id);
    return this.view(await this.notifications.raiseByOperator(toNewNotification(body), actor));
  }

  @Get()
  @AdminRead('listAdminNotifications', 'Notifications, newest first', 'All given filters must match.')
  @ApiPage(AdminNotificationView)
  async list(@Query() query: NotificationsQuery): Promise<ListAnswer<AdminNotificationView>> {
    const filter = { userId: query.user_id, clientId: query.client_id };
    return listAnswer(await this.notifications.list(filter, pageRequestOf(query)), (notification) =>
      this.view(notification),
    );
  }

  private view(notification: NotificationEntity): AdminNotificationView {
    return {
      ...notificationView(notification, this.settings.baseUrl),
      user_id: notification.userId,
      client_id: notification.clientId,
    };
  }
}

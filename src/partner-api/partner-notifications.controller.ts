import { Body, Controller, Get, Param, Patch, Query, Req } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { Settings } from '../config/settings.js';
import { originOf } from '../http/server/request-origin.js';
import { ApiEndpoint, ApiId, ApiProblems } from '../http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '../http/api/list-answer.js';
import { PageQuery, pageRequestOf } from '../http/api/page-query.js';
import { NotificationView, notificationView } from '../notifications/notification.view.js';
import { NotificationsService } from '../notifications/notifications.service.js';
import {
  PartnerAnswer,
  PartnerEndpoint,
  PartnerPage,
} from '../rate-limits/partners/partner-endpoint.decorator.js';
import { CurrentPrincipal } from '../tokens/access/current-principal.decorator.js';
import type { Principal } from '../tokens/access/principal.js';
import { NotificationMarksDto } from './partner-notifications.dto.js';

/**
 * The notifications of the token's user (for client credentials: of the owner) that are about the calling client (contract §8).
 * Any other is a 404 problem; security notifications are only shown on the user's own page.
 */
@Controller('notifications')
@ApiTags('Notifications')
export class PartnerNotificationsController {
  constructor(
    private readonly notifications: NotificationsService,
    private readonly settings: Settings,
  ) {}

  /** Newest first. */
  @Get()
  @PartnerEndpoint({ readOverLimit: () => true })
  @ApiEndpoint(
    'listNotifications',
    'Notifications that concern the client, newest first',
    'For the user of the token; with a client-credentials token, for the owner of the client.',
  )
  @PartnerPage(NotificationView)
  async list(
    @Query() query: PageQuery,
    @CurrentPrincipal() principal: Principal,
  ): Promise<ListAnswer<NotificationView>> {
    return listAnswer(
      await this.notifications.list(visibleTo(principal), pageRequestOf(query)),
      (notification) => notificationView(notification, this.settings.baseUrl),
    );
  }

  @Get(':id')
  @PartnerEndpoint({ readOverLimit: () => true })
  @ApiEndpoint('getNotification', 'Get a notification', 'Stays available while the rate limit is exceeded.')
  @ApiId('id', 'notf')
  @PartnerAnswer('The notification.', NotificationView)
  @ApiProblems(404)
  async show(@Param('id') id: string, @CurrentPrincipal() principal: Principal): Promise<NotificationView> {
    return notificationView(await this.notifications.get(id, visibleTo(principal)), this.settings.baseUrl);
  }

  /** `{"read": true}` and `{"resolved": true}` set `read_at` and `resolved_at`, once. */
  @Patch(':id')
  @PartnerEndpoint()
  @ApiEndpoint(
    'markNotification',
    'Mark a notification read or resolved, once',
    'Marks cannot be removed: `false` changes nothing.',
  )
  @ApiId('id', 'notf')
  @PartnerAnswer('The notification.', NotificationView)
  @ApiProblems(404, 413, 415)
  async mark(
    @Param('id') id: string,
    @Body() body: NotificationMarksDto,
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
  ): Promise<NotificationView> {
    const actor = { type: 'client', id: principal.client.id, ...originOf(request) } as const;
    const marks = { read: body.read === true, resolved: body.resolved === true };
    const notification = await this.notifications.mark(id, visibleTo(principal), marks, actor);
    return notificationView(notification, this.settings.baseUrl);
  }
}

const visibleTo = ({ client, userId }: Principal) => ({
  userId: userId ?? client.ownerId,
  clientId: client.id,
});

import { Body, Controller, Get, Patch, Query, Req, Res } from '@nestjs/common';
import { ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { inLanguage, languageOfProgram, withVary } from '#platform/http/server/request-language.js';
import { originOf } from '#platform/http/server/request-origin.js';
import { ApiEndpoint, ApiProblems, PathId } from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { PageQuery, pageRequestOf } from '#platform/http/api/page-query.js';
import type { NotificationEntity } from '#records/notifications/notification.entity.js';
import { NotificationView, notificationView } from '#records/notifications/notification.view.js';
import { NotificationsService } from '#records/notifications/notifications.service.js';
import {
  PartnerAnswer,
  PartnerEndpoint,
  PartnerPage,
} from '#access/rate-limits/partners/partner-endpoint.decorator.js';
import { CurrentPrincipal } from '#access/tokens/access/current-principal.decorator.js';
import type { Principal } from '#access/tokens/access/principal.js';
import { IsOptionalNotNull, IsTrueOrFalse } from '#platform/http/validation/validation.decorators.js';

/** The marks that a partner may set on a notification; `false` changes nothing, because marks cannot be removed. */
class NotificationMarksDto {
  @IsOptionalNotNull() @IsTrueOrFalse() read?: boolean;
  @IsOptionalNotNull() @IsTrueOrFalse() resolved?: boolean;
}

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
    'For the user of the token; with a client-credentials token, for the owner of the client. In the language that `Accept-Language` prefers, if it is sent.',
  )
  @PartnerPage(NotificationView)
  async list(
    @Query() query: PageQuery,
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ListAnswer<NotificationView>> {
    const found = await this.notifications.list(visibleTo(principal), pageRequestOf(query));
    return listAnswer(found, this.viewFor(request, reply));
  }

  @Get(':id')
  @PartnerEndpoint({ readOverLimit: () => true })
  @ApiEndpoint('getNotification', 'Get a notification', 'Stays available while the rate limit is exceeded.')
  @PartnerAnswer('The notification.', NotificationView)
  async show(
    @PathId('id', 'notf') id: string,
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationView> {
    const found = await this.notifications.get(id, visibleTo(principal));
    return this.viewFor(request, reply)(found);
  }

  /** `{"read": true}` and `{"resolved": true}` set `read_at` and `resolved_at`, once. */
  @Patch(':id')
  @PartnerEndpoint()
  @ApiEndpoint(
    'markNotification',
    'Mark a notification read or resolved, once',
    'Marks cannot be removed: `false` changes nothing.',
  )
  @PartnerAnswer('The notification.', NotificationView)
  @ApiProblems(413, 415)
  async mark(
    @PathId('id', 'notf') id: string,
    @Body() body: NotificationMarksDto,
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NotificationView> {
    const actor = { type: 'client', id: principal.client.id, ...originOf(request) } as const;
    const marks = { read: body.read === true, resolved: body.resolved === true };
    const notification = await this.notifications.mark(id, visibleTo(principal), marks, actor);
    return this.viewFor(request, reply)(notification);
  }

  /** In the language that the program asks for, if it asks for one. */
  private viewFor(
    request: FastifyRequest,
    reply: FastifyReply,
  ): (notification: NotificationEntity) => NotificationView {
    const language = languageOfProgram(request);
    if (language) void reply.headers(withVary(reply, inLanguage(language, false)));
    return (notification) => notificationView(notification, this.settings.baseUrl, language);
  }
}

const visibleTo = ({ client, userId }: Principal) => ({
  userId: userId ?? client.ownerId,
  clientId: client.id,
});

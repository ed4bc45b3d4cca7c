import { Body, Controller, Get, Post, Query, UseGuards } from '@nestjs/common';
import { ApiBody, ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Actor } from '#records/audit/audit.service.js';
import { ApiAnswer, ApiBehind, ApiPage, ApiProblems, PathId } from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { RedirectUriRequestsService } from './redirect-uri-requests.service.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { AdminApi, AdminRead, AdminWrite } from '#entrypoints/admin/api/admin-api.decorator.js';
import { EmptyBodyGuard } from '#platform/http/api/empty-body.guard.js';
import { idOf, oneOf, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import {
  REDIRECT_URI_REQUEST_STATES,
  type RedirectUriRequestEntity,
  RedirectUriRequestsQuery,
  RejectionDto,
} from './redirect-uri-request.entity.js';

/** Who decided, as in the audit log. */
@ApiSchema({ name: 'RedirectUriRequestDecider' })
class DeciderView {
  @ApiProperty(oneOf('user', 'client', 'service')) type!: 'user' | 'client' | 'service';
  @ApiProperty(orNull(text('Null for the service itself.'))) id!: string | null;
}

/** A redirect URI that a partner asked to register or to remove, on the wire. */
@ApiSchema({ name: 'RedirectUriRequest' })
class RedirectUriRequestView extends viewOf<RedirectUriRequestEntity>()({
  id: idOf('ruri'),
  client_id: idOf('clnt'),
  action: oneOf('add', 'remove'),
  uri: text(undefined, { example: 'https://partner.example/callback' }),
  state: oneOf(...REDIRECT_URI_REQUEST_STATES),
  reason: orNull(text('Why it was rejected, if someone said so.')),
  requested_by: idOf('user', 'The member who asked.'),
  requested_at: time(),
  decided_by: [
    { type: DeciderView, nullable: true },
    ({ decidedByType, decidedById }) =>
      decidedByType === null ? null : { type: decidedByType, id: decidedById },
  ],
  decided_at: orNull(time()),
}) {}

/** Redirect URIs that partners ask for, in the admin API (contract §20). */
@Controller('admin/redirect_uri_requests')
@AdminApi()
export class AdminRedirectUriRequestsController {
  constructor(private readonly requests: RedirectUriRequestsService) {}

  @Get()
  @ApiBehind('deletePurpose')
  @AdminRead(
    'listRedirectUriRequests',
    'Redirect URIs that partners ask for, newest first',
    'Members of an organisation ask for them in the portal. Nothing is changed until they are approved.',
  )
  @ApiPage(RedirectUriRequestView)
  async list(@Query() query: RedirectUriRequestsQuery): Promise<ListAnswer<RedirectUriRequestView>> {
    const filter = { state: query.state, clientId: query.client_id };
    return listAnswer(await this.requests.list(filter, pageRequestOf(query)), RedirectUriRequestView.of);
  }

  @Post(':id/approve')
  @ApiBehind('deletePurpose')
  @AdminWrite(
    'approveRedirectUriRequest',
    'Approve and carry out what a partner asked for',
    'The URI is checked again. What is not pending: 409. What became impossible is a 409 too, and stays pending.',
  )
  @ApiAnswer(200, 'Done.', RedirectUriRequestView)
  @ApiProblems(409)
  @UseGuards(EmptyBodyGuard)
  async approve(
    @PathId('id', 'ruri') id: string,
    @CurrentActor() actor: Actor,
  ): Promise<RedirectUriRequestView> {
    return RedirectUriRequestView.of(await this.requests.approve(id, actor));
  }

  @Post(':id/reject')
  @ApiBehind('deletePurpose')
  @AdminWrite(
    'rejectRedirectUriRequest',
    'Reject what a partner asked for',
    'The members who are admins are told, with the reason. What is not pending: 409.',
  )
  @ApiBody({ type: RejectionDto, required: false })
  @ApiAnswer(200, 'Rejected.', RedirectUriRequestView)
  @ApiProblems(409)
  @UseGuards(EmptyBodyGuard)
  async reject(
    @PathId('id', 'ruri') id: string,
    @Body() { reason }: RejectionDto,
    @CurrentActor() actor: Actor,
  ): Promise<RedirectUriRequestView> {
    return RedirectUriRequestView.of(await this.requests.reject(id, reason ?? null, actor));
  }
}

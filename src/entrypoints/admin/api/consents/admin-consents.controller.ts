import { Body, Controller, Delete, Get, Put, Query } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { GivenConsentsService } from '#access/consents/given-consents.service.js';
import { ApiAnswer, ApiNoContent, ApiPage, ApiProblems, PathId } from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { PageQuery, pageRequestOf } from '#platform/http/api/page-query.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { ConsentDto } from './admin-consents.dto.js';
import { ConsentView } from './admin-consents.view.js';

/** Consents of users to one client in the admin API (contract §2, §12). */
@Controller('admin/clients/:client_id/consents')
@AdminApi()
export class AdminConsentsController {
  constructor(
    private readonly consents: ConsentsService,
    private readonly given: GivenConsentsService,
  ) {}

  @Get()
  @AdminRead(
    'listConsents',
    'Consents by user, revoked ones too',
    'Sorted by user id; `page_after` and `page_before` are user ids.',
  )
  @ApiPage(ConsentView)
  async list(
    @PathId('client_id', 'clnt') clientId: string,
    @Query() query: PageQuery,
  ): Promise<ListAnswer<ConsentView>> {
    return listAnswer(
      await this.consents.list(clientId, pageRequestOf(query)),
      ConsentView.of,
      (consent) => consent.userId,
    );
  }

  @Put(':user_id')
  @AdminWrite(
    'recordConsent',
    'Record a consent that was given elsewhere; it replaces any earlier one',
    'For example a consent in a contract. A scope that users cannot give to this client: 400.',
    'support',
  )
  @ApiAnswer(200, 'The consent.', ConsentView)
  @ApiProblems(409)
  async put(
    @PathId('client_id', 'clnt') clientId: string,
    @PathId('user_id', 'user') userId: string,
    @Body() { scopes, evidence }: ConsentDto,
    @CurrentActor() actor: Actor,
  ): Promise<ConsentView> {
    return ConsentView.of(await this.given.record(clientId, userId, scopes, evidence ?? null, actor));
  }

  @Delete(':user_id')
  @AdminWrite(
    'revokeConsent',
    'Revoke a consent, with its grants and tokens',
    'Everything that depends on the consent ends immediately.',
    'support',
  )
  @ApiNoContent('Revoked.')
  revoke(
    @PathId('client_id', 'clnt') clientId: string,
    @PathId('user_id', 'user') userId: string,
    @CurrentActor() actor: Actor,
  ): Promise<void> {
    return this.consents.revoke(clientId, userId, actor);
  }
}

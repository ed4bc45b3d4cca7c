import { Body, Controller, Delete, Get, Put, Query } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import type { Actor } from '#records/audit/audit.service.js';
import { ConsentsService } from '#access/consents/consents.service.js';
import { ConsentApprovals } from '#access/consents/consent-approvals.service.js';
import { ApiAnswer, ApiNoContent, ApiPage, ApiProblems, PathId } from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { PageQuery, pageRequestOf } from '#platform/http/api/page-query.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import type { ConsentEntity } from '#access/consents/consent.entity.js';
import { listOf, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { ConsentDto } from './admin-consents.dto.js';
import { ACCESS } from '../access.view.js';

/** A consent on the wire; `revoked_at` is null while it is active. */
@ApiSchema({ name: 'Consent' })
class ConsentView extends viewOf<ConsentEntity>()({
  ...ACCESS,
  purposes: listOf(text(), { description: 'What the client said the data are for: names of purposes.' }),
  words_changed: listOf(text(), {
    description: 'Scopes whose meaning has changed since: the user is asked again.',
  }),
  granted_at: time(),
  expires_at: orNull(time('When it ends unless the user renews it; null: never.')),
  revoked_at: orNull(time('Null while it is active.')),
  evidence: orNull(text('The proof of the consent that an operator holds.')),
}) {}

/** Consents of users to one client in the admin API (contract §2, §12). */
@Controller('admin/clients/:client_id/consents')
@AdminApi()
export class AdminConsentsController {
  constructor(
    private readonly consents: ConsentsService,
    private readonly approvals: ConsentApprovals,
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
    return ConsentView.of(await this.approvals.record(clientId, userId, scopes, evidence ?? null, actor));
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

import { Controller, Delete, Get, Query } from '@nestjs/common';
import { ApiSchema } from '@nestjs/swagger';
import type { Actor } from '#records/audit/audit.service.js';
import { ApiNoContent, ApiPage, PathId } from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { pageRequestOf, PageQuery } from '#platform/http/api/page-query.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { GrantsService } from '#access/tokens/grants/grants.service.js';
import { idOf, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import type { GrantInList } from '#access/tokens/grants/grant.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { ACCESS } from '../access.view.js';
import { IsIdOf, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';

/** Query of `GET /admin/grants`; all given members must match. */
class GrantsQuery extends PageQuery {
  @IsOptionalNotNull() @IsIdOf('clnt', 'client') client_id?: string;
  @IsOptionalNotNull() @IsIdOf('user', 'user') user_id?: string;
}

/** An active grant on the wire. */
@ApiSchema({ name: 'Grant' })
class GrantView extends viewOf<GrantInList>()({
  ...ACCESS,
  id: idOf('grnt'),
  created_at: time(),
  expires_at: time(),
}) {}

/** Active grants in the admin API (contract §12). */
@Controller('admin/grants')
@AdminApi()
export class AdminGrantsController {
  constructor(private readonly grants: GrantsService) {}

  @Get()
  @AdminRead(
    'listGrants',
    'Active grants by id',
    'A grant is one authorization of a client by a user; all given filters must match.',
  )
  @ApiPage(GrantView)
  async list(@Query() query: GrantsQuery): Promise<ListAnswer<GrantView>> {
    const filter = { clientId: query.client_id, userId: query.user_id };
    return listAnswer(await this.grants.listLive(filter, pageRequestOf(query)), GrantView.of);
  }

  @Delete(':id')
  @AdminWrite('revokeGrant', 'Revoke a grant; the consent is kept', 'Also ends all its tokens.', 'support')
  @ApiNoContent('Revoked.')
  revoke(@PathId('id', 'grnt') id: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.grants.revoke(id, 'grant_revoked', actor);
  }
}

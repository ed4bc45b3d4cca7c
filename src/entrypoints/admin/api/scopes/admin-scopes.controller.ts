import { Body, Controller, Get, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiSchema } from '@nestjs/swagger';
import type { Actor } from '#records/audit/audit.service.js';
import { ApiAnswer, ApiProblems } from '#platform/http/api/api-answers.js';
import { PathName, requireName } from '#platform/http/validation/name-rule.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { SCOPE_NAME } from '#access/scopes/scope-name.js';
import { oneOf, orNull, text, time } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import { SCOPE_AUDIENCES, type ScopeEntity } from '#access/scopes/scope.entity.js';
import { ScopeDto, TRANSLATIONS } from './admin-scopes.dto.js';

/** A scope on the wire. */
@ApiSchema({ name: 'Scope' })
class ScopeView extends viewOf<ScopeEntity>()({
  name: text(undefined, { example: 'vehicle:read' }),
  description: text('Shown to users on the consent page.'),
  translations: { ...TRANSLATIONS, description: 'The description in other languages.' },
  audience: oneOf(...SCOPE_AUDIENCES),
  meaning_changed_at: orNull(
    time('When the meaning of its description last changed, so that users are asked again.'),
  ),
}) {}

/** The scope catalogue in the admin API (contract §12). */
@Controller('admin/scopes')
@AdminApi()
export class AdminScopesController {
  constructor(private readonly scopes: ScopesService) {}

  @Get()
  @AdminRead('listScopes', 'The scope catalogue', 'A short catalogue, so not paged.')
  @ApiAnswer(200, 'Every scope, by name.', [ScopeView])
  async list(): Promise<ScopeView[]> {
    return (await this.scopes.list()).map(ScopeView.of);
  }

  @Get(':name')
  @AdminRead('getScope', 'Get a scope', 'With its description and audience.')
  @ApiAnswer(200, 'The scope.', ScopeView)
  @ApiProblems(404)
  async get(@PathName(SCOPE_NAME) name: string): Promise<ScopeView> {
    return ScopeView.of(await this.scopes.get(name));
  }

  @Put(':name')
  @AdminWrite(
    'putScope',
    'Create a scope, or replace its description and audience',
    'The audience of a scope that a client holds cannot be changed: 409. With `meaning_changed`, consents that hold the scope end after the notice, unless their users renew them.',
  )
  @ApiAnswer(200, 'The updated scope.', ScopeView)
  @ApiAnswer(201, 'The created scope.', ScopeView)
  @ApiProblems(409)
  async put(
    @PathName(SCOPE_NAME) name: string,
    @Body() { description, translations, audience, meaning_changed: meaningChanged }: ScopeDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ScopeView> {
    requireName(SCOPE_NAME, name);
    const { scope, created } = await this.scopes.put({ name, description, translations, audience }, actor, {
      meaningChanged,
    });
    void reply.status(created ? 201 : 200);
    return ScopeView.of(scope);
  }
}

import { Body, Controller, Get, Param, Put, Res } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Actor } from '../../../audit/audit.service.js';
import { ApiAnswer, ApiProblems } from '../../../http/api/api-answers.js';
import { validationFailed } from '../../../http/problems/problem.js';
import { ScopesService } from '../../../scopes/scopes.service.js';
import { CurrentActor } from '../../../tokens/access/current-principal.decorator.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { isScopeName, SCOPE_NAME } from '../../../scopes/scope-name.js';
import { ScopeDto } from './admin-scopes.dto.js';
import { ScopeView } from './admin-scopes.view.js';
import { violation } from '../../../http/problems/violation.js';

const ApiScopeName = () => ApiParam({ name: 'name', schema: { type: 'string', pattern: SCOPE_NAME.source } });

/** The scope catalogue in the admin API (contract §12). */
@Controller('admin/scopes')
@AdminApi()
export class AdminScopesController {
  constructor(private readonly scopes: ScopesService) {}

  /** All scopes, by name: a short catalogue, so not paged. */
  @Get()
  @AdminRead('listScopes', 'The scope catalogue', 'A short catalogue, so not paged.')
  @ApiAnswer(200, 'Every scope, by name.', [ScopeView])
  async list(): Promise<ScopeView[]> {
    return (await this.scopes.list()).map(ScopeView.of);
  }

  /** One scope, or 404. */
  @Get(':name')
  @AdminRead('getScope', 'Get a scope', 'With its description and audience.')
  @ApiScopeName()
  @ApiAnswer(200, 'The scope.', ScopeView)
  @ApiProblems(404)
  async get(@Param('name') name: string): Promise<ScopeView> {
    return ScopeView.of(await this.scopes.get(name));
  }

  /**
   * Creates a scope (201) or replaces its description and audience (200); changing the audience of a scope that a client holds:
   * 409. With `meaning_changed`, users are asked anew; without another description: 400.
   */
  @Put(':name')
  @AdminWrite(
    'putScope',
    'Create a scope, or replace its description and audience',
    'The audience of a scope that a client holds cannot be changed: 409. With `meaning_changed`, consents that hold the scope end after the notice, unless their users renew them.',
  )
  @ApiScopeName()
  @ApiAnswer(200, 'The updated scope.', ScopeView)
  @ApiAnswer(201, 'The created scope.', ScopeView)
  @ApiProblems(409)
  async put(
    @Param('name') name: string,
    @Body() { description, translations, audience, meaning_changed: meaningChanged }: ScopeDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ScopeView> {
    if (!isScopeName(name)) {
      throw validationFailed({ name: [violation('name', { characters: 'a-z, 0-9, _ . : and -' })] });
    }
    const { scope, created } = await this.scopes.put({ name, description, translations, audience }, actor, {
      meaningChanged,
    });
    void reply.status(created ? 201 : 200);
    return ScopeView.of(scope);
  }
}

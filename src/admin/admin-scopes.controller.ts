import { Body, Controller, Get, Param, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Actor } from '../audit/audit.service.js';
import { validationFailed } from '../http/problem.js';
import { ScopesService } from '../scopes/scopes.service.js';
import { CurrentActor } from '../tokens/current-principal.decorator.js';
import { AdminApi, AdminRead } from './admin-api.decorator.js';
import { isScopeName, ScopeDto } from './admin-scopes.dto.js';
import { scopeView, type ScopeView } from './admin-scopes.view.js';

/** The scope catalogue in the admin API (contract §12). */
@Controller('admin/scopes')
@AdminApi()
export class AdminScopesController {
  constructor(private readonly scopes: ScopesService) {}

  /** All scopes, by name: a short catalogue, so not paged. */
  @Get()
  @AdminRead()
  async list(): Promise<ScopeView[]> {
    return (await this.scopes.list()).map(scopeView);
  }

  /** One scope, or 404. */
  @Get(':name')
  @AdminRead()
  async get(@Param('name') name: string): Promise<ScopeView> {
    return scopeView(await this.scopes.get(name));
  }

  /**
   * Creates a scope (201) or replaces its description and audience (200); changing the audience of a scope that a client holds:
   * 409.
   */
  @Put(':name')
  async put(
    @Param('name') name: string,
    @Body() { description, audience }: ScopeDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ScopeView> {
    if (!isScopeName(name)) {
      throw validationFailed({ name: ['must be 1 to 64 of the characters a-z, 0-9, _ . : and -'] });
    }
    const { scope, created } = await this.scopes.put({ name, description, audience }, actor);
    void reply.status(created ? 201 : 200);
    return scopeView(scope);
  }
}

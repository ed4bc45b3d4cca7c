import { Body, Controller, Delete, Get, HttpCode, Param, Put, Res } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { FastifyReply } from 'fastify';
import type { Actor } from '../../../audit/audit.service.js';
import { ApiAnswer, ApiNoContent, ApiProblems } from '../../../http/api/api-answers.js';
import { validationFailed } from '../../../http/problems/problem.js';
import { violation } from '../../../http/problems/violation.js';
import { isPurposeName, PURPOSE_NAME } from '../../../scopes/purposes/purpose.entity.js';
import { PurposesService } from '../../../scopes/purposes/purposes.service.js';
import { CurrentActor } from '../../../tokens/access/current-principal.decorator.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { PurposeDto } from './admin-purposes.dto.js';
import { PurposeView } from './admin-purposes.view.js';

const ApiPurposeName = () =>
  ApiParam({
    name: 'name',
    schema: { type: 'string', pattern: PURPOSE_NAME.source, example: 'route_planning' },
  });

/** The catalogue of purposes in the admin API (contract §12). */
@Controller('admin/purposes')
@AdminApi()
export class AdminPurposesController {
  constructor(private readonly purposes: PurposesService) {}

  /** All purposes, by name: a short catalogue, so not paged. */
  @Get()
  @AdminRead('listPurposes', 'The catalogue of purposes', 'A short catalogue, so not paged.')
  @ApiAnswer(200, 'Every purpose, by name.', [PurposeView])
  async list(): Promise<PurposeView[]> {
    return (await this.purposes.list()).map(PurposeView.of);
  }

  /** One purpose, or 404. */
  @Get(':name')
  @AdminRead('getPurpose', 'Get a purpose', 'With its words in each language.')
  @ApiPurposeName()
  @ApiAnswer(200, 'The purpose.', PurposeView)
  @ApiProblems(404)
  async get(@Param('name') name: string): Promise<PurposeView> {
    return PurposeView.of(await this.purposes.get(name));
  }

  /** Creates a purpose (201) or replaces its words (200). Words in an unknown language, or none in English: 400. */
  @Put(':name')
  @AdminWrite(
    'putPurpose',
    'Create a purpose, or replace its words',
    'English words are needed, and shown where there are none in the language of the page.',
  )
  @ApiPurposeName()
  @ApiAnswer(200, 'The updated purpose.', PurposeView)
  @ApiAnswer(201, 'The created purpose.', PurposeView)
  @ApiProblems(409)
  async put(
    @Param('name') name: string,
    @Body() { words }: PurposeDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PurposeView> {
    if (!isPurposeName(name)) {
      throw validationFailed({ name: [violation('name', { characters: 'a-z, 0-9, _ and -' })] });
    }
    const { purpose, created } = await this.purposes.put(name, words, actor);
    void reply.status(created ? 201 : 200);
    return PurposeView.of(purpose);
  }

  /** Deletes a purpose: 204; while a client declares it: 409. */
  @Delete(':name')
  @AdminWrite('deletePurpose', 'Delete a purpose', 'A purpose that a client declares cannot be deleted: 409.')
  @ApiPurposeName()
  @ApiNoContent('Deleted.')
  @ApiProblems(404, 409)
  @HttpCode(204)
  delete(@Param('name') name: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.purposes.delete(name, actor);
  }
}

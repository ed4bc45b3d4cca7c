import { Body, Controller, Delete, Get, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { ApiSchema } from '@nestjs/swagger';
import type { Actor } from '#records/audit/audit.service.js';
import { ApiAnswer, ApiNoContent, ApiProblems } from '#platform/http/api/api-answers.js';
import { PathName, requireName } from '#platform/http/validation/name-rule.js';
import { PURPOSE_NAME, type PurposeEntity } from '#access/scopes/purposes/purpose.entity.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { text } from '#platform/http/api/api-schemas.js';
import { viewOf } from '#platform/http/api/view-of.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { PurposeDto, PURPOSE_WORDS } from './admin-purposes.dto.js';

/** A purpose on the wire. */
@ApiSchema({ name: 'Purpose' })
class PurposeView extends viewOf<PurposeEntity>()({
  name: text(undefined, { example: 'route_planning' }),
  words: PURPOSE_WORDS,
}) {}

/** The catalogue of purposes in the admin API (contract §12). */
@Controller('admin/purposes')
@AdminApi()
export class AdminPurposesController {
  constructor(private readonly purposes: PurposesService) {}

  @Get()
  @AdminRead('listPurposes', 'The catalogue of purposes', 'A short catalogue, so not paged.')
  @ApiAnswer(200, 'Every purpose, by name.', [PurposeView])
  async list(): Promise<PurposeView[]> {
    return (await this.purposes.list()).map(PurposeView.of);
  }

  @Get(':name')
  @AdminRead('getPurpose', 'Get a purpose', 'With its words in each language.')
  @ApiAnswer(200, 'The purpose.', PurposeView)
  @ApiProblems(404)
  async get(@PathName(PURPOSE_NAME) name: string): Promise<PurposeView> {
    return PurposeView.of(await this.purposes.get(name));
  }

  @Put(':name')
  @AdminWrite(
    'putPurpose',
    'Create a purpose, or replace its words',
    'English words are needed, and shown where there are none in the language of the page.',
  )
  @ApiAnswer(200, 'The updated purpose.', PurposeView)
  @ApiAnswer(201, 'The created purpose.', PurposeView)
  @ApiProblems(409)
  async put(
    @PathName(PURPOSE_NAME) name: string,
    @Body() { words }: PurposeDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<PurposeView> {
    requireName(PURPOSE_NAME, name);
    const { purpose, created } = await this.purposes.put(name, words, actor);
    void reply.status(created ? 201 : 200);
    return PurposeView.of(purpose);
  }

  @Delete(':name')
  @AdminWrite('deletePurpose', 'Delete a purpose', 'A purpose that a client declares cannot be deleted: 409.')
  @ApiNoContent('Deleted.')
  @ApiProblems(404, 409)
  delete(@PathName(PURPOSE_NAME) name: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.purposes.delete(name, actor);
  }
}

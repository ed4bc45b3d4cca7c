import { Body, Controller, Get, Put, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Actor } from '#records/audit/audit.service.js';
import { ApiAnswer, ApiProblems, PathParam } from '#platform/http/api/api-answers.js';
import { text } from '#platform/http/api/api-schemas.js';
import { validationFailed } from '#platform/http/problems/problem.js';
import { PathName, requireName } from '#platform/http/validation/name-rule.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { EventCatalogueService } from '#events/webhooks/event-types/event-catalogue.service.js';
import { EVENT_TYPE_NAME } from '#events/webhooks/event-types/event-type.entity.js';
import { EventTypesService } from '#events/webhooks/event-types/event-types.service.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import {
  EventTypeDto,
  EventTypeVersionDto,
  EventTypeVersionView,
  EventTypeView,
} from './admin-event-types.dto.js';
import { violation } from '#platform/http/problems/violation.js';

const VERSION = /^[1-9]\d{0,3}$/;

/** The catalogue of event types in the admin API (contract §21). */
@Controller('admin/event_types')
@AdminApi()
export class AdminEventTypesController {
  constructor(
    private readonly types: EventTypesService,
    private readonly catalogue: EventCatalogueService,
  ) {}

  @Get()
  @AdminRead(
    'listAdminEventTypes',
    'The catalogue of event types',
    'With every version; short, so not paged.',
  )
  @ApiAnswer(200, 'Every event type, by name.', [EventTypeView])
  async list(): Promise<EventTypeView[]> {
    return (await this.types.list()).map(EventTypeView.of);
  }

  @Get(':name')
  @AdminRead('getEventType', 'Get an event type', 'With every version, drafts included.')
  @ApiAnswer(200, 'The event type.', EventTypeView)
  @ApiProblems(404)
  async get(@PathName(EVENT_TYPE_NAME) name: string): Promise<EventTypeView> {
    return EventTypeView.of(await this.types.get(name));
  }

  @Put(':name')
  @AdminWrite(
    'putEventType',
    'Create an event type, or change it',
    'Published once it has a version. 409 for types that the service publishes itself, and for a new scope while endpoints subscribe.',
  )
  @ApiAnswer(200, 'The changed event type.', EventTypeView)
  @ApiAnswer(201, 'The created event type.', EventTypeView)
  @ApiProblems(409)
  async put(
    @PathName(EVENT_TYPE_NAME) name: string,
    @Body() { resource = null, ...type }: EventTypeDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EventTypeView> {
    requireName(EVENT_TYPE_NAME, name);
    const { created } = await this.catalogue.putType({ name, ...type, resource }, actor);
    void reply.status(created ? 201 : 200);
    return EventTypeView.of(await this.types.get(name));
  }

  @Put(':name/versions/:version')
  @AdminWrite(
    'putEventTypeVersion',
    'Create the next version of an event type, or change one that is not used',
    'Versions count up from 1. 409 for a version that events were published with.',
  )
  @ApiAnswer(200, 'The changed version.', EventTypeVersionView)
  @ApiAnswer(201, 'The created version.', EventTypeVersionView)
  @ApiProblems(404, 409)
  async putVersion(
    @PathName(EVENT_TYPE_NAME) name: string,
    @PathParam('version', text(undefined, { pattern: VERSION.source })) number: string,
    @Body() { schema, draft = false, sample }: EventTypeVersionDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EventTypeVersionView> {
    if (!VERSION.test(number))
      throw validationFailed({ version: [violation('whole_number', { min: 1, max: 9999 })] });
    const version = Number(number);
    const { created } = await this.catalogue.putVersion(name, version, { schema, draft, sample }, actor);
    void reply.status(created ? 201 : 200);
    const { versions } = await this.types.get(name);
    return EventTypeVersionView.of(versions.find((each) => each.version === version)!);
  }
}

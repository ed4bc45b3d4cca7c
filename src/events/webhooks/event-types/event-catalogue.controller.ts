import { Controller, Get, Req, Res, UseGuards } from '@nestjs/common';
import { ApiResponse, ApiTags, ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Settings } from '#platform/config/settings.js';
import { ApiAnswer, ApiEndpoint, ApiProblems, PathParam } from '#platform/http/api/api-answers.js';
import { text, orNull, url, whole } from '#platform/http/api/api-schemas.js';
import { AddressRateLimitGuard } from '#platform/http/guards/address-rate-limit.guard.js';
import { notFound } from '#platform/http/problems/problem.js';
import { CompressedAsset } from '#platform/http/server/compressed-asset.js';
import { PathName } from '#platform/http/validation/name-rule.js';
import { EVENT_TYPE_NAME, currentVersion, type VersionedEventType } from './event-type.entity.js';
import { EventTypesService } from './event-types.service.js';

/** A type of the public catalogue. */
@ApiSchema({ name: 'PublicEventType' })
class PublicEventTypeView {
  @ApiProperty(text(undefined, { example: 'charging_session.created' })) name!: string;
  @ApiProperty(text('When it is sent.')) description!: string;

  @ApiProperty(orNull(text('What client and consent need; null: it concerns the client alone.')))
  scope!: string | null;

  @ApiProperty(whole('What is published now.', { minimum: 1 })) version!: number;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'An example of `data`.' })
  sample!: object;

  @ApiProperty(url('The JSON Schema of `data`.')) schema_url!: string;
}

/** A type that has a version. */
function publicEventTypeView(type: VersionedEventType, baseUrl: string): PublicEventTypeView {
  const { name, description, scope, sample } = type;
  const { version } = currentVersion(type)!;
  const schemaUrl = `${baseUrl}/v2/event_types/${name}/versions/${version}/schema`;
  return { name, description, scope, version, sample, schema_url: schemaUrl };
}

const KEPT = 200;

const ApiSchemaAnswer = (): MethodDecorator =>
  ApiResponse({
    status: 200,
    description: 'The schema.',
    headers: {
      'X-Request-Id': { required: true, schema: text() as object },
      ETag: { required: true, schema: text() as object },
    },
    content: { 'application/schema+json': { schema: { type: 'object', additionalProperties: true } } },
  });

/** The catalogue of event types and their schemas, for everybody (contract §21). */
@Controller('v2/event_types')
@UseGuards(AddressRateLimitGuard)
@ApiTags('Events')
export class EventCatalogueController {
  /** By type, version and revision. */
  private readonly schemas = new LRUCache<string, CompressedAsset>({ max: KEPT });

  constructor(
    private readonly types: EventTypesService,
    private readonly settings: Settings,
  ) {}

  @Get()
  @ApiEndpoint('listEventTypes', 'The event types', 'A short catalogue, so not paged. Needs no token.')
  @ApiAnswer(200, 'Every event type, by name.', [PublicEventTypeView])
  @ApiProblems(429, 500, 503)
  async list(): Promise<PublicEventTypeView[]> {
    const types = await this.types.listPublic();
    return types.map((type) => publicEventTypeView(type, this.settings.baseUrl));
  }

  @Get(':name/versions/:version/schema')
  @ApiEndpoint(
    'getEventSchema',
    'The schema of a version',
    'A JSON Schema (2020-12) of `data`. A version that events were published with does not change. Needs no token.',
  )
  @ApiSchemaAnswer()
  @ApiProblems(400, 404, 429, 500, 503)
  async schema(
    @PathName(EVENT_TYPE_NAME) name: string,
    @PathParam('version', text(undefined, { pattern: '^[1-9][0-9]{0,3}$' })) number: string,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const type = (await this.types.list()).find((each) => each.name === name);
    const found = type?.versions.find(({ version, draft }) => String(version) === number && !draft);
    if (!found) throw notFound('There is no such version of an event type.');
    const key = `${name} ${number} ${found.revision}`;
    let asset = this.schemas.get(key);
    if (!asset) {
      asset = new CompressedAsset(JSON.stringify(found.schema), 'application/schema+json');
      this.schemas.set(key, asset);
    }
    void reply.header('cache-control', 'public, max-age=300');
    await asset.send(request, reply);
  }
}

import { Body, Controller, Post, Req, UseGuards } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiHeader, ApiSecurity, ApiTags, ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { ApiAnswer, ApiEndpoint, ApiProblems } from '#platform/http/api/api-answers.js';
import { text, idOf, whole } from '#platform/http/api/api-schemas.js';
import { badRequest, validationFailed } from '#platform/http/problems/problem.js';
import { LimitedBearerGuard } from '#access/rate-limits/partners/limited-bearer.guard.js';
import { CurrentPrincipal } from '#access/tokens/access/current-principal.decorator.js';
import type { Principal } from '#access/tokens/access/principal.js';
import { RequireScopes, ScopesGuard } from '#access/tokens/access/scopes.guard.js';
import { realmOf } from '#access/users/accounts/environment.js';
import { inUtc } from './event.js';
import { holdsExactNumbers } from './exact-numbers.js';
import { PublishingService } from './publishing.service.js';
import { violation } from '#platform/http/problems/violation.js';
import {
  IsIdOf,
  IsJsonObject,
  IsOptionalNotNull,
  IsText,
  IsTime,
  IsWholeNumber,
} from '#platform/http/validation/validation.decorators.js';

/** The highest version number that is accepted. */
const VERSION_MAX = 10_000;

/** Body of `POST /v2/events`. */
class NewEventDto {
  @ApiProperty({
    description: 'A type of the event catalogue that services publish.',
    example: 'charging_session.created',
  })
  @IsText(1, 64)
  type!: string;

  @IsIdOf('user', 'user') user_id!: string;
  @ApiProperty({ description: 'RFC 3339: with seconds, and `Z` or an offset.' }) @IsTime() timestamp!: string;

  @ApiProperty({ description: 'The version of the type; by default the newest that is not a draft.' })
  @IsOptionalNotNull()
  @IsWholeNumber(1, VERSION_MAX)
  version?: number;

  @IsJsonObject() data!: object;
}

/** A published event on the wire. */
@ApiSchema({ name: 'PublishedEvent' })
class PublishedView {
  @ApiProperty(idOf('evnt')) id!: string;
  @ApiProperty(whole('The number of endpoints it is sent to.')) deliveries!: number;
}

const KEY = /^[\x21-\x7e]{1,255}$/;

/** The endpoint where the company's services publish events (contract §10). */
@Controller('v2/events')
@UseGuards(LimitedBearerGuard, ScopesGuard)
@RequireScopes('event:publish')
@ApiTags('Events')
export class EventsController {
  constructor(private readonly publishing: PublishingService) {}

  /** 202 with the event's id and the number of endpoints it is sent to. `Idempotency-Key` makes retries safe for 24 hours. */
  @Post()
  @RouteConfig({ keepsBodyText: true })
  @ApiEndpoint(
    'publishEvent',
    'Publish an event',
    'For the company’s own services: requires `event:publish`. The event and its deliveries are stored before the response.',
  )
  @ApiSecurity('oauth2', ['event:publish'])
  @ApiHeader({
    name: 'Idempotency-Key',
    description: 'The same key with the same body returns the same response for 24 hours.',
    schema: text(undefined, { pattern: KEY.source }) as object,
  })
  @ApiAnswer(202, 'The event is accepted.', PublishedView)
  @ApiProblems(400, 401, 403, 413, 415, 422, 429, 500, 503)
  publish(
    @Body() body: NewEventDto,
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
  ): Promise<PublishedView> {
    if (!holdsExactNumbers(request.bodyText!, 'data')) {
      throw validationFailed({
        data: [violation('inexact_number')],
      });
    }
    return this.publishing.publish(
      {
        type: body.type,
        userId: body.user_id,
        timestamp: inUtc(body.timestamp),
        data: body.data,
        ...(body.version === undefined ? {} : { version: body.version }),
        idempotencyKey: idempotencyKeyOf(request),
        requestId: request.id,
      },
      { id: principal.client.id, realm: realmOf(principal.client) },
    );
  }
}

function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && KEY.test(key)) return key;
  throw badRequest('The Idempotency-Key header must be 1 to 255 printable ASCII characters without spaces.');
}

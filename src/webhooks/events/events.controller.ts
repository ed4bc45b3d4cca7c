import { Body, Controller, HttpCode, Post, Req, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { JsonBodyGuard } from '../../http/json-body.guard.js';
import { badRequest, validationFailed } from '../../http/problem.js';
import { LimitedBearerGuard } from '../../rate-limits/limited-bearer.guard.js';
import { CurrentPrincipal } from '../../tokens/current-principal.decorator.js';
import type { Principal } from '../../tokens/principal.js';
import { RequireScopes, ScopesGuard } from '../../tokens/scopes.guard.js';
import { holdsExactNumbers, inUtc } from './event.js';
import { NewEventDto } from './events.dto.js';
import { PublishingService, type Published } from './publishing.service.js';

/** The endpoint where the company's services publish events (contract §10). */
@Controller('v2/events')
@UseGuards(LimitedBearerGuard, ScopesGuard, JsonBodyGuard)
@RequireScopes('event:publish')
@ApiTags('Events')
@ApiBearerAuth()
export class EventsController {
  constructor(private readonly publishing: PublishingService) {}

  /** 202 with the event's id and the number of endpoints it is sent to. `Idempotency-Key` makes retries safe for 24 hours. */
  @Post()
  @HttpCode(202)
  publish(
    @Body() body: NewEventDto,
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
  ): Promise<Published> {
    if (!holdsExactNumbers(body.data)) {
      throw validationFailed({
        data: ['must not contain a number that is too large to be exact: send it as a string'],
      });
    }
    return this.publishing.publish(
      {
        type: body.type,
        userId: body.user_id,
        timestamp: inUtc(body.timestamp),
        data: body.data,
        idempotencyKey: idempotencyKeyOf(request),
      },
      principal.client.id,
    );
  }
}

function idempotencyKeyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['idempotency-key'];
  if (key === undefined) return undefined;
  if (typeof key === 'string' && /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  throw badRequest('The Idempotency-Key header must be 1 to 255 printable ASCII characters without spaces.');
}

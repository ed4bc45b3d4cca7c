import { Controller, Get, Query, Req, Res } from '@nestjs/common';
import { ApiTags, ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { DisclosedReadsService } from '#events/disclosures/disclosed-reads.service.js';
import { ApiEndpoint } from '#platform/http/api/api-answers.js';
import { forbidden } from '#platform/http/problems/problem.js';
import { PartnerEndpoint, PartnerPage } from '#access/rate-limits/partners/partner-endpoint.decorator.js';
import { AccessTokensService } from '#access/tokens/access/access-tokens.service.js';
import { invalidToken } from '#access/tokens/access/bearer.guard.js';
import { CurrentPrincipal } from '#access/tokens/access/current-principal.decorator.js';
import { type Principal, accessTokenOf } from '#access/tokens/access/principal.js';
import { EventFeed, type FeedPart } from './event-feed.service.js';
import type { FeedReader } from './event-feed.repository.js';
import { FeedPositions, type FeedPosition } from './feed-position.js';
import { FeedWaits } from './feed-waits.service.js';
import { FILTERS_MAX } from '../filters/condition.js';
import { QueriedFilters } from '../filters/queried-filters.service.js';
import { idOf, optional, text, time, whole } from '#platform/http/api/api-schemas.js';
import { IsPageSize, ToNumber } from '#platform/http/api/page-query.js';
import { violation } from '#platform/http/problems/violation.js';
import {
  IsMatching,
  IsOptionalNotNull,
  IsSeconds,
  IsText,
} from '#platform/http/validation/validation.decorators.js';

const WAIT_MAX = 20;
const AFTER = /^(latest|evnt[0-7][0-9A-HJKMNP-TV-Z]{25}|[A-Za-z0-9_-]{38,200})$/;

/** The query of `GET /v2/events`. */
class FeedQuery {
  @ApiProperty({
    description:
      'The id of an event, `latest` for none until now, or what a `Link` holds. By default all that are kept.',
  })
  @IsOptionalNotNull()
  @IsMatching(AFTER, violation('feed_place'))
  after?: string;

  @IsPageSize() page_size?: number;

  @ApiProperty({ description: 'Seconds to wait when there is nothing new.', default: 0 })
  @IsOptionalNotNull()
  @ToNumber()
  @IsSeconds(0, WAIT_MAX)
  wait?: number;

  @ApiProperty({
    description:
      'Only events for which all of these hold: the `filters` of an endpoint, as JSON. They are checked against the event types that the token allows.',
    example: '[{"path":"data.energy_kwh","operator":"greater","value":5}]',
  })
  @IsOptionalNotNull()
  @IsText(2, FILTERS_MAX)
  filters?: string;
}

/** An event as it is delivered. */
@ApiSchema({ name: 'Event' })
class EventView {
  @ApiProperty(idOf('evnt', 'The same in the deliveries to each endpoint.')) id!: string;
  @ApiProperty(text(undefined, { example: 'charging_session.updated' })) type!: string;
  @ApiProperty(time()) timestamp!: string;
  @ApiProperty(idOf('user')) user_id!: string;

  @ApiProperty({ type: 'object', additionalProperties: true, description: 'By the schema of the type.' })
  data!: object;

  @ApiProperty(optional(whole('Grows by one with each event about the same thing.', { minimum: 1 })))
  sequence?: number;
}

const PAGE_SIZE = 25;

/** The feed of events, for partners who cannot or do not want to be called (contract §21). */
@Controller('v2/events')
@ApiTags('Events')
export class EventFeedController {
  constructor(
    private readonly feed: EventFeed,
    private readonly waits: FeedWaits,
    private readonly positions: FeedPositions,
    private readonly filters: QueriedFilters,
    private readonly accessTokens: AccessTokensService,
    private readonly settings: Settings,
    private readonly reads: DisclosedReadsService,
  ) {}

  /** The client's events, oldest first, as they are delivered. */
  @Get()
  @PartnerEndpoint()
  @ApiEndpoint(
    'listEvents',
    'The events of the client, oldest first',
    'In the order in which they were accepted, on every instance: an event never appears before one that was already read. `Link` always leads on. A page may be empty although more follows. Needs a client-credentials token.',
  )
  @PartnerPage(EventView)
  async list(
    @Query() query: FeedQuery,
    @CurrentPrincipal() principal: Principal,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<string> {
    if (principal.userId !== undefined) {
      throw forbidden(
        'You do not have permission to perform this action: the feed is for the client itself.',
      );
    }
    const { id } = principal.client;
    const size = query.page_size ?? PAGE_SIZE;
    const filter = await this.filters.read(query.filters, principal.scopes);
    const after = await this.feed.begin(id, query.after);
    const reader = { clientId: id, scopes: principal.scopes, filter };
    const part =
      query.wait === undefined || query.wait === 0
        ? await this.feed.read(reader, after, size)
        : await this.wait(reader, after, size, query.wait, request, reply);
    // The answer to HEAD holds nothing.
    const read = request.method === 'HEAD' ? [] : part.read;
    for (const { userId, scope } of read) this.reads.note({ clientId: id, userId, scope });
    void reply.headers({
      link: this.linkAfter(request, id, part.end),
      'content-type': 'application/json; charset=utf-8',
    });
    // As they are stored, byte for byte.
    return `[${part.bodies.join(',')}]`;
  }

  /** Reads as soon as there is something, as long as the reader waits. */
  private async wait(
    from: FeedReader,
    after: FeedPosition,
    size: number,
    seconds: number,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<FeedPart> {
    const until = performance.now() + seconds * 1000;
    const wait = this.waits.begin(from.clientId);
    const { raw } = reply;
    raw.once('close', wait.end);
    try {
      let reader = from;
      for (let end = after; ;) {
        const part = await this.feed.read(reader, end, size);
        ({ end } = part);
        if (part.bodies.length > 0 || raw.destroyed) return part;
        const left = until - performance.now();
        const isNew = part.isAll ? await wait.next(left) : left > 0;
        if (this.isOver(raw)) return part;
        // The token may have ended during the wait.
        reader = { ...from, scopes: (await this.judgeAgain(request)).scopes };
        if (!isNew) return part;
      }
    } finally {
      raw.off('close', wait.end);
      wait.end();
    }
  }

  /** The reader has left, or the instance is stopping and another one answers. */
  private isOver(raw: FastifyReply['raw']): boolean {
    return this.waits.isStopped || raw.destroyed;
  }

  private async judgeAgain(request: FastifyRequest): Promise<Principal> {
    const token = accessTokenOf(request.headers.authorization)!;
    const principal = await this.accessTokens.find(token);
    if (!principal) {
      const before = request.principal!;
      const { reason } = await this.accessTokens.countRefusal(token, request, before.jkt !== undefined);
      throw invalidToken(reason, before);
    }
    return principal;
  }

  private linkAfter(request: FastifyRequest, clientId: string, end: FeedPosition): string {
    const url = new URL(this.settings.baseUrl + request.url);
    url.searchParams.set('after', this.positions.seal(clientId, end));
    return `<${url.href}>; rel="next"`;
  }
}

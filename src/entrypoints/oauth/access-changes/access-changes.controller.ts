import { Controller, Get, Headers, Req, Res, UseGuards } from '@nestjs/common';
import { ApiHeader, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Readable } from 'node:stream';
import { ApiEndpoint, ApiProblems, ApiText } from '#platform/http/api/api-answers.js';
import { text } from '#platform/http/api/api-schemas.js';
import { LimitedBearerGuard } from '#access/rate-limits/partners/limited-bearer.guard.js';
import { accessTokenOf } from '#access/tokens/access/principal.js';
import { RequireScopes, ScopesGuard } from '#access/tokens/access/scopes.guard.js';
import { INTROSPECTION_SCOPE } from '#access/clients/resources/introspection-scope.js';
import { ChangeFeed } from './change-feed.service.js';

const MEDIA_TYPE = 'text/event-stream';
const EXAMPLE = `: 2905018412.7312
id: 2905018412.7312

event: change
id: 2905018412.7319
data: {"client_id":"clnt01HN2NJ9NMRZBXT1H6FT9N7735","user_id":"user01HN2NJ9NMRZBXT1H6FT9N7735"}

`;

/** The feed of changes to access (contract §23). */
@Controller('v2/access_changes')
@UseGuards(LimitedBearerGuard, ScopesGuard)
@RequireScopes(INTROSPECTION_SCOPE)
@ApiTags('OAuth')
export class AccessChangesController {
  constructor(private readonly feed: ChangeFeed) {}

  /** Never ends by itself while the token is valid. */
  @Get()
  @ApiEndpoint(
    'followAccessChanges',
    'Follow changes to access',
    'Server-Sent Events for services that remember introspections: `change` names a client, a user, or the two together, whose ' +
      'introspections are to be forgotten; without either, and after `reset`, all are. A comment says that the stream is alive.',
  )
  @ApiSecurity('oauth2', [INTROSPECTION_SCOPE])
  @ApiHeader({
    name: 'Last-Event-ID',
    description: 'The last position that was read: the stream continues from there, or begins with `reset`.',
    schema: text() as object,
  })
  @ApiText(200, 'The stream.', MEDIA_TYPE, EXAMPLE)
  @ApiProblems(400, 401, 403, 429, 500, 503)
  async follow(
    @Headers('last-event-id') lastEventId: string | undefined,
    @Req() request: FastifyRequest,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    // Proxies must not buffer the stream.
    const headers = { 'content-type': MEDIA_TYPE, 'x-accel-buffering': 'no', connection: 'close' };
    // Not without any payload, which would have a Content-Length (RFC 9110 §8.6).
    if (request.method === 'HEAD') return void reply.headers(headers).send(Readable.from([]));
    const token = accessTokenOf(request.headers.authorization)!;
    const stream = await this.feed.open(token, request.principal!, lastEventId);
    reply.raw.once('close', () => stream.destroy());
    // The reader may have disconnected by now.
    if (reply.raw.destroyed) return void stream.destroy();
    void reply.headers(headers).send(stream);
  }
}

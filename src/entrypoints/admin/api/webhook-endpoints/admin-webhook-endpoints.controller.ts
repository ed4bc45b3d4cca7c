import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import type { Actor } from '#records/audit/audit.service.js';
import {
  ApiAnswer,
  ApiNoContent,
  ApiPage,
  ApiProblems,
  NOT_CACHED,
  PathId,
} from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { PageQuery, pageRequestOf } from '#platform/http/api/page-query.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { ENDPOINT } from '#events/webhooks/endpoints/endpoint.resource.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { text } from '#platform/http/api/api-schemas.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import {
  EndpointChangesDto,
  NewEndpointDto,
  toEndpointChanges,
  toNewEndpoint,
} from './admin-webhook-endpoints.dto.js';

/** A webhook endpoint on the wire, without its secret; `disabled_reason` is null unless the service disabled it. */
@ApiSchema({ name: 'WebhookEndpoint' })
class EndpointView extends ENDPOINT.viewClass() {}

/** An endpoint in the response that created it. */
@ApiSchema({ name: 'NewWebhookEndpoint' })
class NewEndpointView extends EndpointView {
  @ApiProperty(
    text('Shown only once.', { pattern: '^whsec_', example: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' }),
  )
  secret!: string;
}

/** Webhook endpoints in the admin API (contract §12). */
@Controller('admin')
@AdminApi()
export class AdminWebhookEndpointsController {
  constructor(private readonly endpoints: EndpointsService) {}

  @Post('clients/:client_id/webhook_endpoints')
  @AdminWrite(
    'createWebhookEndpoint',
    'Add a webhook endpoint',
    'The secret that signs its deliveries is shown only once. A client has at most 50 endpoints: 409.',
  )
  @ApiAnswer(201, 'The endpoint and, only this once, its secret.', NewEndpointView, NOT_CACHED)
  @ApiProblems(409)
  async create(
    @PathId('client_id', 'clnt') clientId: string,
    @Body() body: NewEndpointDto,
    @CurrentActor() actor: Actor,
  ): Promise<NewEndpointView> {
    const { endpoint, secret } = await this.endpoints.create(clientId, toNewEndpoint(body), actor);
    return { ...ENDPOINT.view(endpoint), secret };
  }

  @Get('clients/:client_id/webhook_endpoints')
  @AdminRead('listWebhookEndpoints', 'Webhook endpoints of a client', 'Sorted by id.')
  @ApiPage(EndpointView)
  async list(
    @PathId('client_id', 'clnt') clientId: string,
    @Query() query: PageQuery,
  ): Promise<ListAnswer<EndpointView>> {
    return listAnswer(await this.endpoints.list(clientId, pageRequestOf(query)), (endpoint) =>
      ENDPOINT.view(endpoint),
    );
  }

  @Get('webhook_endpoints/:id')
  @AdminRead('getWebhookEndpoint', 'Get a webhook endpoint', 'Never with its secret.')
  @ApiAnswer(200, 'The endpoint.', EndpointView)
  async get(@PathId('id', 'endp') id: string): Promise<EndpointView> {
    return ENDPOINT.view(await this.endpoints.get(id));
  }

  @Patch('webhook_endpoints/:id')
  @AdminWrite(
    'updateWebhookEndpoint',
    'Update a webhook endpoint',
    'Omitted members stay unchanged. Enabling also clears the reason why the service disabled it.',
  )
  @ApiAnswer(200, 'The endpoint.', EndpointView)
  async update(
    @PathId('id', 'endp') id: string,
    @Body() body: EndpointChangesDto,
    @CurrentActor() actor: Actor,
  ): Promise<EndpointView> {
    return ENDPOINT.view(await this.endpoints.update(id, undefined, toEndpointChanges(body), actor));
  }

  @Delete('webhook_endpoints/:id')
  @AdminWrite('deleteWebhookEndpoint', 'Delete a webhook endpoint', 'Nothing more is sent to it.')
  @ApiNoContent('Deleted.')
  delete(@PathId('id', 'endp') id: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.endpoints.delete(id, undefined, actor);
  }
}

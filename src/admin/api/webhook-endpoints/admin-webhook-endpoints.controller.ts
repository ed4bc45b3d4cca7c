import { Body, Controller, Delete, Get, Header, HttpCode, Param, Patch, Post, Query } from '@nestjs/common';
import type { Actor } from '../../../audit/audit.service.js';
import {
  ApiAnswer,
  ApiId,
  ApiNoContent,
  ApiPage,
  ApiProblems,
  NOT_CACHED,
} from '../../../http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '../../../http/api/list-answer.js';
import { PageQuery, pageRequestOf } from '../../../http/api/page-query.js';
import { CurrentActor } from '../../../tokens/access/current-principal.decorator.js';
import { ENDPOINT } from '../../../webhooks/endpoints/endpoint.resource.js';
import { EndpointsService } from '../../../webhooks/endpoints/endpoints.service.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import {
  EndpointChangesDto,
  NewEndpointDto,
  toEndpointChanges,
  toNewEndpoint,
} from './admin-webhook-endpoints.dto.js';
import { EndpointView, NewEndpointView } from './admin-webhook-endpoints.view.js';

/** Webhook endpoints in the admin API (contract §12). */
@Controller('admin')
@AdminApi()
export class AdminWebhookEndpointsController {
  constructor(private readonly endpoints: EndpointsService) {}

  /** Adds an endpoint: 201 and, only this once, its `secret`; 409 if the client has 50. */
  @Post('clients/:client_id/webhook_endpoints')
  @AdminWrite(
    'createWebhookEndpoint',
    'Add a webhook endpoint',
    'The secret that signs its deliveries is shown only once. A client has at most 50 endpoints: 409.',
  )
  @ApiId('client_id', 'clnt')
  @ApiAnswer(201, 'The endpoint and, only this once, its secret.', NewEndpointView, NOT_CACHED)
  @ApiProblems(404, 409)
  @Header('cache-control', 'no-store')
  async create(
    @Param('client_id') clientId: string,
    @Body() body: NewEndpointDto,
    @CurrentActor() actor: Actor,
  ): Promise<NewEndpointView> {
    const { endpoint, secret } = await this.endpoints.create(clientId, toNewEndpoint(body), actor);
    return { ...ENDPOINT.view(endpoint), secret };
  }

  /** The client's endpoints by id, paged. */
  @Get('clients/:client_id/webhook_endpoints')
  @AdminRead('listWebhookEndpoints', 'Webhook endpoints of a client', 'Sorted by id.')
  @ApiId('client_id', 'clnt')
  @ApiPage(EndpointView)
  @ApiProblems(404)
  async list(
    @Param('client_id') clientId: string,
    @Query() query: PageQuery,
  ): Promise<ListAnswer<EndpointView>> {
    return listAnswer(await this.endpoints.list(clientId, pageRequestOf(query)), (endpoint) =>
      ENDPOINT.view(endpoint),
    );
  }

  /** One endpoint, or 404. */
  @Get('webhook_endpoints/:id')
  @AdminRead('getWebhookEndpoint', 'Get a webhook endpoint', 'Never with its secret.')
  @ApiId('id', 'endp')
  @ApiAnswer(200, 'The endpoint.', EndpointView)
  @ApiProblems(404)
  async get(@Param('id') id: string): Promise<EndpointView> {
    return ENDPOINT.view(await this.endpoints.get(id));
  }

  /** Changes the given members; enabling also clears the reason why the service disabled it. */
  @Patch('webhook_endpoints/:id')
  @AdminWrite(
    'updateWebhookEndpoint',
    'Update a webhook endpoint',
    'Omitted members stay unchanged. Enabling also clears the reason why the service disabled it.',
  )
  @ApiId('id', 'endp')
  @ApiAnswer(200, 'The endpoint.', EndpointView)
  @ApiProblems(404)
  async update(
    @Param('id') id: string,
    @Body() body: EndpointChangesDto,
    @CurrentActor() actor: Actor,
  ): Promise<EndpointView> {
    return ENDPOINT.view(await this.endpoints.update(id, undefined, toEndpointChanges(body), actor));
  }

  /** Deletes the endpoint: nothing more is sent to it. 204. */
  @Delete('webhook_endpoints/:id')
  @AdminWrite('deleteWebhookEndpoint', 'Delete a webhook endpoint', 'Nothing more is sent to it.')
  @ApiId('id', 'endp')
  @ApiNoContent('Deleted.')
  @ApiProblems(404)
  @HttpCode(204)
  delete(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.endpoints.delete(id, undefined, actor);
  }
}

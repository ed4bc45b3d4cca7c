import {
  Body,
  Controller,
  Delete,
  Get,
  Header,
  HttpCode,
  Param,
  Patch,
  Post,
  Query,
  Req,
  Res,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Actor } from '../audit/audit.service.js';
import { Settings } from '../config/settings.js';
import { PageQuery, pageRequestOf, setPageLinks } from '../http/paging.js';
import { CurrentActor } from '../tokens/current-principal.decorator.js';
import { EndpointsService } from '../webhooks/endpoints/endpoints.service.js';
import { AdminApi, AdminRead } from './admin-api.decorator.js';
import {
  EndpointChangesDto,
  NewEndpointDto,
  toEndpointChanges,
  toNewEndpoint,
} from './admin-webhook-endpoints.dto.js';
import { endpointView, type EndpointView } from './admin-webhook-endpoints.view.js';

/** Webhook endpoints in the admin API (contract §12). */
@Controller('admin')
@AdminApi()
export class AdminWebhookEndpointsController {
  constructor(
    private readonly settings: Settings,
    private readonly endpoints: EndpointsService,
  ) {}

  /** Adds an endpoint: 201 and, only this once, its `secret`; 409 if the client has 50. */
  @Post('clients/:client_id/webhook_endpoints')
  @Header('cache-control', 'no-store')
  async create(
    @Param('client_id') clientId: string,
    @Body() body: NewEndpointDto,
    @CurrentActor() actor: Actor,
  ): Promise<EndpointView & { secret: string }> {
    const { endpoint, secret } = await this.endpoints.create(clientId, toNewEndpoint(body), actor);
    return { ...endpointView(endpoint), secret };
  }

  /** The client's endpoints by id, paged. */
  @Get('clients/:client_id/webhook_endpoints')
  @AdminRead()
  async list(
    @Param('client_id') clientId: string,
    @Query() query: PageQuery,
    @Req() request: FastifyRequest,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<EndpointView[]> {
    const page = await this.endpoints.list(clientId, pageRequestOf(query));
    setPageLinks(request, reply, this.settings.baseUrl, page, (endpoint) => endpoint.id);
    return page.items.map(endpointView);
  }

  /** One endpoint, or 404. */
  @Get('webhook_endpoints/:id')
  @AdminRead()
  async get(@Param('id') id: string): Promise<EndpointView> {
    return endpointView(await this.endpoints.get(id));
  }

  /** Changes the given members; enabling also clears the reason why the service disabled it. */
  @Patch('webhook_endpoints/:id')
  async update(
    @Param('id') id: string,
    @Body() body: EndpointChangesDto,
    @CurrentActor() actor: Actor,
  ): Promise<EndpointView> {
    return endpointView(await this.endpoints.update(id, undefined, toEndpointChanges(body), actor));
  }

  /** Deletes the endpoint: nothing more is sent to it. 204. */
  @Delete('webhook_endpoints/:id')
  @HttpCode(204)
  delete(@Param('id') id: string, @CurrentActor() actor: Actor): Promise<void> {
    return this.endpoints.delete(id, undefined, actor);
  }
}

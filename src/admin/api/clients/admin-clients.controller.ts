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
  Res,
} from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Actor } from '../../../audit/audit.service.js';
import type { ClientEntity } from '../../../clients/client.entity.js';
import { CLIENT } from '../../../clients/client.resource.js';
import { ClientsService } from '../../../clients/clients.service.js';
import { Settings } from '../../../config/settings.js';
import {
  ApiAnswer,
  ApiId,
  ApiNoContent,
  ApiPage,
  ApiProblems,
  NOT_CACHED,
} from '../../../http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '../../../http/api/list-answer.js';
import { pageRequestOf } from '../../../http/api/page-query.js';
import { CurrentActor } from '../../../tokens/access/current-principal.decorator.js';
import { FourEyes } from '../../approvals/four-eyes.service.js';
import { newId } from '../../../secrets/ids.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { ApiWaiting, waiting, type ApprovalView } from '../approvals/admin-approvals.view.js';
import { ClientChangesDto, ClientsQuery, NewClientDto } from './admin-clients.dto.js';
import { clientView, ClientView, NewClientView } from './admin-clients.view.js';

/** OAuth clients in the admin API (contract §12). */
@Controller('admin/clients')
@AdminApi()
export class AdminClientsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly fourEyes: FourEyes,
    private readonly settings: Settings,
  ) {}

  /**
   * Creates a client: 201 and the client with its `client_id` and, if confidential, its `client_secret`, only this once.
   * Violations of contract §2 or §3 get a 400 with `field_errors`.
   */
  @Post()
  @AdminWrite(
    'createClient',
    'Register a client',
    'The response contains `client_id` and, for a confidential client, `client_secret`, only this once.',
  )
  @ApiAnswer(201, 'The client and, only this once, its secret.', NewClientView, NOT_CACHED)
  @ApiWaiting()
  @Header('cache-control', 'no-store')
  async create(
    @Body() body: NewClientDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<NewClientView | ApprovalView> {
    const outcome = await this.fourEyes.createClient(newId('clnt'), CLIENT.newOf(body), actor);
    if (outcome.waiting) return waiting(reply, outcome.waiting);
    const { client, secret } = outcome.done!;
    return { ...this.view(client), ...(secret === undefined ? {} : { client_secret: secret }) };
  }

  /** The clients by id, paged; `q` searches. */
  @Get()
  @AdminRead('listClients', 'Clients by id', 'Sorted by id; `q` searches.')
  @ApiPage(ClientView)
  async list(@Query() query: ClientsQuery): Promise<ListAnswer<ClientView>> {
    return listAnswer(
      await this.clients.list({ q: query.q, environment: query.environment }, pageRequestOf(query)),
      (client) => this.view(client),
    );
  }

  /** One client, or 404. */
  @Get(':client_id')
  @AdminRead('getClient', 'Get a client', 'Never with its secret.')
  @ApiId('client_id', 'clnt')
  @ApiAnswer(200, 'The client.', ClientView)
  @ApiProblems(404)
  async get(@Param('client_id') id: string): Promise<ClientView> {
    return this.view(await this.clients.get(id));
  }

  /**
   * Changes the given members; `scopes`, `type`, `owner_id` and `environment` are refused with 400. Disabling ends everything that the client
   * holds (contract §4).
   */
  @Patch(':client_id')
  @AdminWrite(
    'updateClient',
    'Update a client; disabling it revokes everything that it holds',
    'Omitted members stay unchanged. `type`, `scopes`, `owner_id` and `environment` cannot be changed.',
  )
  @ApiId('client_id', 'clnt')
  @ApiAnswer(200, 'The client.', ClientView)
  @ApiWaiting()
  @ApiProblems(404, 409)
  async update(
    @Param('client_id') id: string,
    @Body() body: ClientChangesDto,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ClientView | ApprovalView> {
    const outcome = await this.fourEyes.updateClient(id, CLIENT.changesOf(body), actor);
    return outcome.waiting ? waiting(reply, outcome.waiting) : this.view(outcome.done);
  }

  /** Deletes the client with its secrets, consents, grants and tokens: 204. */
  @Delete(':client_id')
  @AdminWrite(
    'deleteClient',
    'Delete a client with everything that it holds',
    'Also deletes its secrets, consents, grants and tokens.',
  )
  @ApiId('client_id', 'clnt')
  @ApiNoContent('Deleted.')
  @ApiWaiting()
  @ApiProblems(404)
  @HttpCode(204)
  async delete(
    @Param('client_id') id: string,
    @CurrentActor() actor: Actor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<ApprovalView | void> {
    const outcome = await this.fourEyes.deleteClient(id, actor);
    if (outcome.waiting) return waiting(reply, outcome.waiting);
  }

  private view(client: ClientEntity): ClientView {
    return clientView(client, this.settings.baseUrl);
  }
}

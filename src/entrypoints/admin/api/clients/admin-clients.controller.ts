import { Body, Controller, Delete, Get, Patch, Post, Query } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { CLIENT } from '#access/clients/client.resource.js';
import { ClientsService, type RegisteredClient } from '#access/clients/clients.service.js';
import { Settings } from '#platform/config/settings.js';
import {
  ApiAnswer,
  ApiNoContent,
  ApiPage,
  ApiProblems,
  NOT_CACHED,
  PathId,
} from '#platform/http/api/api-answers.js';
import { listAnswer, type ListAnswer } from '#platform/http/api/list-answer.js';
import { pageRequestOf } from '#platform/http/api/page-query.js';
import { CurrentActor } from '#access/tokens/access/current-principal.decorator.js';
import { AdminActions, type Outcome } from '../../actions/admin-actions.service.js';
import { newId } from '#platform/secrets/ids.js';
import { AdminApi, AdminRead, AdminWrite } from '../admin-api.decorator.js';
import { MayWait, outcomeAs } from '../../actions/may-wait.js';
import {
  ClientChangesDto,
  ClientsQuery,
  NewClientDto,
  clientView,
  ClientView,
  NewClientView,
} from './admin-clients.dto.js';

/** OAuth clients in the admin API (contract §12). */
@Controller('admin/clients')
@AdminApi()
export class AdminClientsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly actions: AdminActions,
    private readonly settings: Settings,
  ) {}

  @Post()
  @AdminWrite(
    'createClient',
    'Register a client',
    'The response contains `client_id` and, for a confidential client, `client_secret`, only this once.',
  )
  @ApiAnswer(201, 'The client and, only this once, its secret.', NewClientView, NOT_CACHED)
  @MayWait()
  async create(@Body() body: NewClientDto, @CurrentActor() actor: Actor): Promise<Outcome<NewClientView>> {
    const outcome = await this.actions.run('client.create', newId('clnt'), CLIENT.newOf(body), actor);
    return outcomeAs(outcome, (done) => this.viewWithSecret(done!));
  }

  @Get()
  @AdminRead('listClients', 'Clients by id', 'Sorted by id; `q` searches.')
  @ApiPage(ClientView)
  async list(@Query() query: ClientsQuery): Promise<ListAnswer<ClientView>> {
    return listAnswer(
      await this.clients.list({ q: query.q, environment: query.environment }, pageRequestOf(query)),
      (client) => this.view(client),
    );
  }

  @Get(':client_id')
  @AdminRead('getClient', 'Get a client', 'Never with its secret.')
  @ApiAnswer(200, 'The client.', ClientView)
  async get(@PathId('client_id', 'clnt') id: string): Promise<ClientView> {
    return this.view(await this.clients.get(id));
  }

  @Patch(':client_id')
  @AdminWrite(
    'updateClient',
    'Update a client; disabling it revokes everything that it holds',
    'Omitted members stay unchanged. `type`, `scopes`, `owner_id` and `environment` cannot be changed. A client that goes back from keys to a secret gets a new one, `client_secret`, only this once.',
  )
  @ApiAnswer(200, 'The client and, only this once, a new secret if it got one.', NewClientView)
  @MayWait()
  @ApiProblems(409)
  async update(
    @PathId('client_id', 'clnt') id: string,
    @Body() body: ClientChangesDto,
    @CurrentActor() actor: Actor,
  ): Promise<Outcome<NewClientView>> {
    const outcome = await this.actions.run('client.update', id, CLIENT.changesOf(body), actor);
    return outcomeAs(outcome, (done) => this.viewWithSecret(done));
  }

  @Delete(':client_id')
  @AdminWrite(
    'deleteClient',
    'Delete a client with everything that it holds',
    'Also deletes its secrets, consents, grants and tokens.',
  )
  @ApiNoContent('Deleted.')
  @MayWait()
  delete(@PathId('client_id', 'clnt') id: string, @CurrentActor() actor: Actor): Promise<Outcome> {
    return this.actions.run('client.delete', id, {}, actor);
  }

  private viewWithSecret({ client, secret }: RegisteredClient): NewClientView {
    return { ...this.view(client), ...(secret === undefined ? {} : { client_secret: secret }) };
  }

  private view(client: ClientEntity): ClientView {
    return clientView(client, this.settings.baseUrl);
  }
}

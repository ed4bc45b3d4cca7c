import { Param, Query } from '@nestjs/common';
import { ClientsService } from '../../../clients/clients.service.js';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { pageRequestOf } from '../../../http/paging.js';
import { validationFailed } from '../../../http/problem.js';
import { ScopesService } from '../../../scopes/scopes.service.js';
import { UsersService } from '../../../users/users.service.js';
import {
  ClientChangesDto,
  ClientsQuery,
  NewClientDto,
  toClientChanges,
  toNewClient,
} from '../../admin-clients.dto.js';
import { ConsolePages, Does, Shows, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt, formValue, type FieldErrors } from '../form-attempt.js';
import { listQuery } from '../list-query.js';
import { editClientPage, newClientPage } from './client-form.page.js';
import {
  changedClientMembers,
  clientFieldsIn,
  clientFieldsOf,
  emptyClientFields,
  newClientMembers,
  type ClientFields,
} from './client-form.js';
import { clientPage } from './client.page.js';
import { CLIENTS_PATH, clientPath } from './client-frame.js';
import { clientsPage } from './clients.page.js';
import { secretPage } from './secret.page.js';

/** Clients in the console: looked for, registered, looked at and changed. */
@ConsolePages('clients')
export class ConsoleClientsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly users: UsersService,
    private readonly scopes: ScopesService,
  ) {}

  @Shows()
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    const query = await listQuery(ClientsQuery, visit.url);
    const page = await this.clients.list(query.q, pageRequestOf(query));
    return { html: clientsPage({ frame: visit.frame, page, q: query.q }) };
  }

  @Shows('new')
  askForNew(@Visit() visit: ConsoleVisit, @Query('owner') owner?: unknown): Promise<ConsoleAnswer> {
    return this.newForm(visit, emptyClientFields(typeof owner === 'string' ? owner : ''));
  }

  /** Registers a client; the page that follows shows the secret, this once. */
  @Does('new')
  async create(@Visit() visit: ConsoleVisit, @FormBody() form: Form): Promise<ConsoleAnswer> {
    const fields = clientFieldsIn(form);
    const { done, errors } = await attempt(async () => {
      const ownerId = await this.ownerIdOf(fields.owner);
      const body = await formValue(NewClientDto, newClientMembers(fields, ownerId));
      return this.clients.create(toNewClient(body), visit.actor);
    });
    if (errors) return this.newForm(visit, fields, errors);
    const { client, secret } = done;
    return { html: secretPage({ frame: visit.frame, client, secret, isNew: true }) };
  }

  @Shows(':client_id')
  async show(@Visit() visit: ConsoleVisit, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const [owner, secrets, scopes] = await Promise.all([
      this.users.find(client.ownerId),
      this.clients.secrets(id),
      this.scopes.describe(client.scopes),
    ]);
    return {
      html: clientPage({ frame: visit.frame, client, owner, secrets, scopes, tokenFor: visit.tokenFor }),
    };
  }

  @Shows(':client_id/edit')
  async askForChanges(@Visit() visit: ConsoleVisit, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const csrfToken = visit.tokenFor(clientPath(id, 'edit'));
    return {
      html: editClientPage({ frame: visit.frame, client, fields: clientFieldsOf(client), csrfToken }),
    };
  }

  @Does(':client_id/edit')
  async change(
    @Visit() visit: ConsoleVisit,
    @Param('client_id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const fields = { ...clientFieldsIn(form), type: client.type, scopes: client.scopes };
    const { errors } = await attempt(async () => {
      const body = await formValue(ClientChangesDto, changedClientMembers(fields));
      await this.clients.update(id, toClientChanges(body), visit.actor);
    });
    if (!errors) return { goTo: clientPath(id), notice: 'client_changed' };
    const csrfToken = visit.tokenFor(clientPath(id, 'edit'));
    return { html: editClientPage({ frame: visit.frame, client, fields, csrfToken, errors }), status: 400 };
  }

  private async newForm(
    visit: ConsoleVisit,
    fields: ClientFields,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const scopes = await this.scopes.list();
    const csrfToken = visit.tokenFor(`${CLIENTS_PATH}/new`);
    const html = newClientPage({ frame: visit.frame, fields, scopes, csrfToken, errors });
    return { html, status: errors ? 400 : 200 };
  }

  /** A person knows the owner's e-mail address; an id does as well. */
  private async ownerIdOf(owner: string): Promise<string> {
    if (!owner.includes('@')) return owner;
    const user = await this.users.findByEmail(owner);
    if (!user) throw validationFailed({ owner_id: ['no user has this e-mail address'] });
    return user.id;
  }
}

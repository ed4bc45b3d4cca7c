import { Param, Query } from '@nestjs/common';
import { ClientsService, type ClientChanges, type NewClient } from '../../../clients/clients.service.js';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { pageRequestOf } from '../../../http/paging.js';
import { Context } from '../../../http/page-routes/page-context.js';
import { ScopesService } from '../../../scopes/scopes.service.js';
import { newId } from '../../../secrets/ids.js';
import { UsersService } from '../../../users/users.service.js';
import {
  ClientChangesDto,
  ClientsQuery,
  NewClientDto,
  toClientChanges,
  toNewClient,
} from '../../admin-clients.dto.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { attempt, formValue, refuseTogether, type FieldErrors } from '../form-attempt.js';
import { ONCE_FIELD } from '../form-ids.service.js';
import { namedUser, NO_SUCH_USER } from '../users/named-user.js';
import { listQuery, NOTHING, typedFilter } from '../list-query.js';
import { editClientPage, newClientPage } from './client-form.page.js';
import {
  changedClientMembers,
  clientFieldsIn,
  clientFieldsOf,
  clientShapeOf,
  emptyClientFields,
  givesPower,
  newClientMembers,
  type ClientFields,
} from './client-form.js';
import { clientPage } from './client.page.js';
import { CLIENTS_PATH, clientPath } from './client-layout.js';
import { clientsPage } from './clients.page.js';
import { secretShownPath, type ShownSecret } from './secret.page.js';

const NEW_PATH = `${CLIENTS_PATH}/new`;

/** Clients in the console: search, create, view and edit. */
@ConsolePages('clients')
export class ConsoleClientsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly users: UsersService,
    private readonly scopes: ScopesService,
  ) {}

  @ConsoleGet()
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(ClientsQuery, context.url));
    if (errors) {
      const { q } = typedFilter(context.url);
      return {
        html: clientsPage({ layoutProps: context.layoutProps, page: NOTHING, q, errors }),
        status: 400,
      };
    }
    const page = await this.clients.list(query.q, pageRequestOf(query));
    return { html: clientsPage({ layoutProps: context.layoutProps, page, q: query.q }) };
  }

  @ConsoleGet('new', 'asked')
  askForNew(@Context() context: ConsoleContext, @Query('owner') owner?: unknown): Promise<ConsoleAnswer> {
    const fields = emptyClientFields(typeof owner === 'string' ? owner : '');
    return this.newForm(context, fields, context.onceFor('clnt', NEW_PATH));
  }

  /** Creates a client, once; the next page shows the secret, once. */
  @ConsolePost('new', 'asked in the form')
  async create(@Context() context: ConsoleContext, @FormBody() form: Form): Promise<ConsoleAnswer> {
    const fields = clientFieldsIn(form);
    const id = context.onceIn(form, 'clnt', NEW_PATH);
    const again = (errors: FieldErrors) => this.newForm(context, fields, form.get(ONCE_FIELD)!, errors);
    const ask = await context.askPassword(form);
    if (ask) return again(ask);
    const { done, errors } = await attempt(async () =>
      this.clients.createOnce(id, await this.newClientIn(fields), context.actor),
    );
    if (errors) return again(errors);
    if (fields.type === 'public') return { goTo: clientPath(id), notice: 'public_client_registered' };
    const goTo = secretShownPath(id);
    if (!done?.secret) return { goTo };
    const showOnce: ShownSecret = { secret: done.secret, isNew: true, previousSecretExpiresAt: null };
    return { goTo, showOnce };
  }

  @ConsoleGet(':client_id')
  async show(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const [owner, secrets, scopes] = await Promise.all([
      this.users.find(client.ownerId),
      this.clients.secrets(id),
      this.scopes.describe(client.scopes),
    ]);
    return {
      html: clientPage({
        layoutProps: context.layoutProps,
        client,
        owner,
        secrets,
        scopes,
        tokenFor: context.tokenFor,
      }),
    };
  }

  @ConsoleGet(':client_id/edit')
  async askForChanges(
    @Context() context: ConsoleContext,
    @Param('client_id') id: string,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const csrfToken = context.tokenFor(clientPath(id, 'edit'));
    return {
      html: editClientPage({
        layoutProps: context.layoutProps,
        client,
        fields: clientFieldsOf(client),
        csrfToken,
      }),
    };
  }

  @ConsolePost(':client_id/edit', 'asked in the form')
  async change(
    @Context() context: ConsoleContext,
    @Param('client_id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const fields = { ...clientFieldsIn(form), type: client.type, scopes: client.scopes };
    const ask = givesPower(client, fields) ? await context.askPassword(form) : undefined;
    const { errors } = ask
      ? { errors: ask }
      : await attempt(async () => this.clients.update(id, await this.changesIn(fields), context.actor));
    if (!errors) return { goTo: clientPath(id), notice: 'client_changed' };
    const csrfToken = context.tokenFor(clientPath(id, 'edit'));
    return {
      html: editClientPage({ layoutProps: context.layoutProps, client, fields, csrfToken, errors }),
      status: 400,
    };
  }

  /** The client described by the form; all errors are reported at once. */
  private async newClientIn(fields: ClientFields): Promise<NewClient> {
    const owner = await namedUser(this.users, fields.owner);
    const members = newClientMembers(fields, owner?.id ?? newId('user'));
    const { done, errors } = await attempt(() => formValue(NewClientDto, members));
    const rules = await this.clients.errorsIn(clientShapeOf(fields));
    refuseTogether(owner ? {} : { owner: [NO_SUCH_USER] }, errors, rules);
    return toNewClient(done!);
  }

  private async changesIn(fields: ClientFields): Promise<ClientChanges> {
    const { done, errors } = await attempt(() => formValue(ClientChangesDto, changedClientMembers(fields)));
    refuseTogether(errors, await this.clients.errorsIn(clientShapeOf(fields)));
    return toClientChanges(done!);
  }

  private async newForm(
    context: ConsoleContext,
    fields: ClientFields,
    once: string,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const scopes = await this.scopes.list();
    const csrfToken = context.tokenFor(NEW_PATH);
    const html = newClientPage({ layoutProps: context.layoutProps, fields, scopes, once, csrfToken, errors });
    return { html, status: errors ? 400 : 200, withScript: true };
  }
}

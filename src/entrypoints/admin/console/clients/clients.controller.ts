import { Param, Query } from '@nestjs/common';
import { ClientSecretsService } from '#access/clients/client-secrets.service.js';
import { ClientKeysService } from '#access/clients/keys/client-keys.service.js';
import {
  CLIENT,
  CLIENT_FORM,
  type ClientChanges,
  type ClientFormValues,
  type NewClient,
} from '#access/clients/client.resource.js';
import { ClientsService } from '#access/clients/clients.service.js';
import { ReadsMuchForSearch } from '#platform/http/page-routes/large-reads.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { ONCE_FIELD } from '#platform/web/forms/form.js';
import { PurposesService } from '#access/scopes/purposes/purposes.service.js';
import { ScopesService } from '#access/scopes/scopes.service.js';
import { newId } from '#platform/secrets/ids.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { ClientChangesDto, ClientsQuery, NewClientDto } from '../../api/clients/admin-clients.dto.js';
import { AdminActions } from '../../actions/admin-actions.service.js';
import { waitingFor } from '../console-context.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { filteredList } from '../filtered-list.js';
import { attempt, judged, refuseTogether } from '../form-attempt.js';
import { Pickers } from '../pickers.service.js';
import { namedUser } from '../pages/lists.js';
import {
  editClientPage,
  newClientPage,
  clientShapeOf,
  emptyClientFields,
  clientChangeGivesPower,
  endsEarlierTokens,
  newClientFieldsIn,
  type NewClientFields,
} from './client-form.page.js';
import { CLIENTS_PATH, clientPath } from './client-layout.js';
import { clientPage } from './client.page.js';
import { clientsPage } from './clients.page.js';
import { secretShownPath } from './secret.page.js';
import type { ShownSecret } from '#platform/web/layout/new-client-secret.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { violation } from '#platform/http/problems/violation.js';

const NEW_PATH = `${CLIENTS_PATH}/new`;

/** Clients in the console: search, create, view and edit. */
@ConsolePages('clients')
export class ConsoleClientsController {
  constructor(
    private readonly clients: ClientsService,
    private readonly secrets: ClientSecretsService,
    private readonly keys: ClientKeysService,
    private readonly actions: AdminActions,
    private readonly users: UsersService,
    private readonly scopes: ScopesService,
    private readonly purposes: PurposesService,
    private readonly pickers: Pickers,
  ) {}

  @ConsoleGet('', 'not asked', 'viewer')
  @ReadsMuchForSearch()
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const list = await filteredList(ClientsQuery, context.url, ({ q, environment }, page) =>
      this.clients.list({ q, environment }, page),
    );
    return { page: clientsPage(list), status: list.errors ? 400 : 200 };
  }

  @ConsoleGet('new', 'asked')
  askForNew(@Context() context: ConsoleContext, @Query('owner') owner?: unknown): Promise<ConsoleAnswer> {
    const fields = emptyClientFields(typeof owner === 'string' ? owner : '');
    return this.newForm(fields, context.formIdFor('clnt', NEW_PATH));
  }

  /** Creates a client, once; the next page shows the secret, once. */
  @ConsolePost('new', 'asked in the form')
  async create(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const { form } = context;
    const fields = newClientFieldsIn(form);
    const id = context.formIdIn('clnt', NEW_PATH);
    const { result: outcome, errors } = await context.attemptWithPassword(async () =>
      this.actions.run('client.create', id, await this.newClientIn(fields), context.actor, id),
    );
    if (errors) return this.newForm(fields, form.get(ONCE_FIELD)!, errors);
    if (outcome.waiting) return waitingFor(outcome.waiting);
    if (fields.type === 'public') return { goTo: clientPath(id), notice: 'public_client_registered' };
    if (fields.token_endpoint_auth_method === 'private_key_jwt') {
      return { goTo: clientPath(id), notice: 'client_with_keys_registered' };
    }
    const goTo = secretShownPath(id);
    if (!outcome.done?.secret) return { goTo };
    const showOnce: ShownSecret = { secret: outcome.done.secret, isNew: true, previousSecretExpiresAt: null };
    return { goTo, showOnce };
  }

  @ConsoleGet(':client_id', 'not asked', 'viewer')
  async show(@Param('client_id') id: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const [owner, secrets, keys, scopes] = await Promise.all([
      this.users.find(client.ownerId),
      this.secrets.list(id),
      this.keys.list(client),
      this.scopes.describe(client.scopes),
    ]);
    return { page: clientPage({ client, owner, secrets, keys, scopes }) };
  }

  @ConsoleGet(':client_id/edit', 'asked in the form')
  async askForChanges(@Param('client_id') id: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const purposes = await this.purposes.list();
    return { page: editClientPage({ client, fields: CLIENT_FORM.of(client), purposes }) };
  }

  @ConsolePost(':client_id/edit', 'asked in the form')
  async change(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const client = await this.clients.get(id);
    const present = CLIENT_FORM.of(client);
    const fields = {
      ...CLIENT_FORM.changedIn(context.form, present),
      type: client.type,
      scopes: client.scopes,
      environment: client.environment,
    };
    const work = async () =>
      this.actions.run(
        'client.update',
        id,
        {
          ...(await this.changesIn(fields, present)),
          ...(endsEarlierTokens(context.form, fields, present) ? { endEarlierTokens: true } : {}),
        },
        context.actor,
      );
    const { result: outcome, errors } = await (clientChangeGivesPower(client, fields)
      ? context.attemptWithPassword(work)
      : attempt(work));
    if (outcome?.waiting) return waitingFor(outcome.waiting);
    if (!errors) {
      const secret = outcome.done.secret;
      if (secret === undefined) return { goTo: clientPath(id), notice: 'client_changed' };
      const showOnce: ShownSecret = { secret, isNew: true, previousSecretExpiresAt: null };
      return { goTo: secretShownPath(id), showOnce };
    }
    const purposes = await this.purposes.list();
    return { page: editClientPage({ client, fields, purposes, errors }), status: 400 };
  }

  @ConsolePost(':client_id/enable', 'asked on the page above')
  async enable(@Context() context: ConsoleContext, @Param('client_id') id: string): Promise<ConsoleAnswer> {
    const { waiting } = await this.actions.run('client.update', id, { enabled: true }, context.actor);
    return waiting ? waitingFor(waiting) : { goTo: clientPath(id), notice: 'client_enabled' };
  }

  /** The client described by the form; all errors are reported at once. */
  private async newClientIn(fields: NewClientFields): Promise<NewClient> {
    const owner = await namedUser(this.users, fields.owner);
    const members = { ...CLIENT_FORM.newMembers(fields), owner_id: owner?.id ?? newId('user') };
    const { value, violations } = await judged(NewClientDto, members);
    const rules = await this.clients.violationsIn(clientShapeOf(fields));
    refuseTogether(owner ? {} : { owner: [violation('unknown_user')] }, violations, rules);
    return CLIENT.newOf(value!);
  }

  private async changesIn(fields: ClientFormValues, present: ClientFormValues): Promise<ClientChanges> {
    const members = CLIENT_FORM.changedMembers(fields, present);
    const { value, violations } = await judged(ClientChangesDto, members);
    refuseTogether(violations, await this.clients.violationsIn(clientShapeOf(fields)));
    return CLIENT.changesOf(value!);
  }

  private async newForm(
    fields: NewClientFields,
    formId: string,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const [scopes, purposes, users] = await Promise.all([
      this.scopes.list(),
      this.purposes.list(),
      this.pickers.users(),
    ]);
    const page = newClientPage({ fields, scopes, purposes, users, formId, errors });
    return { page, status: errors ? 400 : 200 };
  }
}

import { Param } from '@nestjs/common';
import { ClientsService } from '#access/clients/clients.service.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { ONCE_FIELD } from '#platform/web/forms/form.js';
import {
  EMPTY_ENDPOINT,
  endpointFieldsChangedIn,
  endpointFieldsIn,
  endpointFieldsOf,
  endpointMembersOf,
  type EndpointFormValues,
} from '#events/webhooks/endpoints/endpoint-form.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { EventTypesService } from '#events/webhooks/event-types/event-types.service.js';
import {
  EndpointChangesDto,
  NewEndpointDto,
  toEndpointChanges,
  toNewEndpoint,
} from '../../api/webhook-endpoints/admin-webhook-endpoints.dto.js';
import { clientPath } from '../clients/client-layout.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import { filteredList } from '../filtered-list.js';
import { Pickers } from '../pickers.service.js';
import { attempt, formValue } from '../form-attempt.js';
import { editEndpointPage, newEndpointPage } from './endpoint-form.pages.js';
import { ENDPOINTS_PATH, endpointPath } from '../pages/resource-link.js';
import { deleteEndpointPage, endpointPage, endpointSecretPage } from './endpoint.pages.js';
import type { FieldErrors } from '#platform/web/forms/field.js';
import { endpointsPage } from './endpoints.page.js';
import { IsIdOf, IsOneOf, IsOptionalNotNull } from '#platform/http/validation/validation.decorators.js';
import { PageQuery } from '#platform/http/api/page-query.js';

/** Query of the console's list of endpoints; all given members must match. */
class EndpointsQuery extends PageQuery {
  @IsOptionalNotNull() @IsIdOf('clnt', 'client') client_id?: string;
  @IsOptionalNotNull() @IsOneOf('disabled', 'failing') state?: 'disabled' | 'failing';
}

/** How many deliveries the page of an endpoint has. */
const NEWEST = 10;

const newPath = (clientId: string): string => clientPath(clientId, 'endpoints/new');

/** Webhook endpoints of all clients. */
@ConsolePages()
export class ConsoleEndpointsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly clients: ClientsService,
    private readonly eventTypes: EventTypesService,
    private readonly pickers: Pickers,
  ) {}

  @ConsoleGet('endpoints', 'not asked', 'viewer')
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const list = await filteredList(EndpointsQuery, context.url, ({ client_id: clientId, state }, page) => {
      const [isDisabled, isFailing] = [state === 'disabled', state === 'failing'];
      // As many as the navigation counts; those of sandboxes are their clients' own matter.
      const environment = isFailing && clientId === undefined ? 'live' : undefined;
      return this.endpoints.listAll({ clientId, isDisabled, isFailing, environment }, page);
    });
    return { page: endpointsPage(list, await this.pickers.clients()), status: list.errors ? 400 : 200 };
  }

  @ConsoleGet('clients/:client_id/endpoints/new', 'asked')
  askForNew(
    @Context() context: ConsoleContext,
    @Param('client_id') clientId: string,
  ): Promise<ConsoleAnswer> {
    return this.newForm(clientId, EMPTY_ENDPOINT, context.formIdFor('endp', newPath(clientId)));
  }

  /** Adds an endpoint, once; the next page shows its secret. */
  @ConsolePost('clients/:client_id/endpoints/new', 'asked in the form')
  async create(
    @Context() context: ConsoleContext,
    @Param('client_id') clientId: string,
  ): Promise<ConsoleAnswer> {
    const { form } = context;
    const fields = endpointFieldsIn(form);
    const id = context.formIdIn('endp', newPath(clientId));
    const { result: created, errors } = await context.attemptWithPassword(async () => {
      const input = toNewEndpoint(await formValue(NewEndpointDto, endpointMembersOf(fields)));
      return this.endpoints.createOnce(id, clientId, input, context.actor);
    });
    if (errors) return this.newForm(clientId, fields, form.get(ONCE_FIELD)!, errors);
    const goTo = endpointPath(id, 'secret');
    return created ? { goTo, showOnce: { secret: created.secret } } : { goTo };
  }

  /** The signing secret of an endpoint that was just added, shown once. */
  @ConsoleGet('endpoints/:id/secret')
  async showSecret(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const endpoint = await this.endpoints.get(id);
    const shown = context.takeShown() as { secret: string } | undefined;
    return { page: endpointSecretPage({ endpoint, secret: shown?.secret }) };
  }

  @ConsoleGet('endpoints/:id', 'not asked', 'viewer')
  async show(@Param('id') id: string): Promise<ConsoleAnswer> {
    const endpoint = await this.endpoints.get(id);
    const [client, { items: deliveries }] = await Promise.all([
      this.clients.get(endpoint.clientId),
      this.deliveries.list({ endpointId: id }, { size: NEWEST }),
    ]);
    return { page: endpointPage({ endpoint, client, deliveries }) };
  }

  @ConsoleGet('endpoints/:id/edit', 'asked in the form')
  async askForChanges(@Param('id') id: string): Promise<ConsoleAnswer> {
    const endpoint = await this.endpoints.get(id);
    return this.editForm(endpoint, endpointFieldsOf(endpoint));
  }

  @ConsolePost('endpoints/:id/edit', 'asked in the form')
  async change(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const endpoint = await this.endpoints.get(id);
    const fields = endpointFieldsChangedIn(context.form, endpoint);
    const asksPassword = sendsElsewhere(endpoint, fields);
    const work = async () => {
      const members = endpointMembersOf(fields, endpointFieldsOf(endpoint));
      const changes = toEndpointChanges(await formValue(EndpointChangesDto, members));
      await this.endpoints.update(id, undefined, changes, context.actor);
    };
    const { errors } = await (asksPassword ? context.attemptWithPassword(work) : attempt(work));
    if (errors) return this.editForm(endpoint, fields, errors);
    return { goTo: endpointPath(id), notice: 'endpoint_changed' };
  }

  @ConsolePost('endpoints/:id/enable', 'asked on the page above')
  async enable(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    await this.endpoints.update(id, undefined, { enabled: true }, context.actor);
    return { goTo: endpointPath(id), notice: 'endpoint_enabled' };
  }

  @ConsolePost('endpoints/:id/disable', 'not asked')
  async disable(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    await this.endpoints.update(id, undefined, { enabled: false }, context.actor);
    return { goTo: endpointPath(id), notice: 'endpoint_disabled' };
  }

  @ConsoleGet('endpoints/:id/delete', 'asked')
  async askToDelete(@Param('id') id: string): Promise<ConsoleAnswer> {
    const endpoint = await this.endpoints.get(id);
    return { page: deleteEndpointPage({ endpoint }) };
  }

  @ConsolePost('endpoints/:id/delete', 'asked')
  async delete(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    await this.endpoints.delete(id, undefined, context.actor);
    return { goTo: ENDPOINTS_PATH, notice: 'endpoint_deleted' };
  }

  private async newForm(
    clientId: string,
    fields: EndpointFormValues,
    formId: string,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(clientId);
    const types = await this.eventTypes.listFor(client.scopes);
    return { page: newEndpointPage({ client, types, fields, formId, errors }), status: errors ? 400 : 200 };
  }

  /** `endpoint`: as it was read for the fields, because the form says what it showed. */
  private async editForm(
    endpoint: EndpointEntity,
    fields: EndpointFormValues,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(endpoint.clientId);
    const types = await this.eventTypes.listFor(client.scopes);
    return { page: editEndpointPage({ endpoint, types, fields, errors }), status: errors ? 400 : 200 };
  }
}

/** Whether a change sends users' data to another URL, or sends more of it. */
const sendsElsewhere = (endpoint: EndpointEntity, fields: EndpointFormValues): boolean =>
  fields.url.trim() !== endpoint.url ||
  fields.filters !== endpointFieldsOf(endpoint).filters ||
  fields.event_types.some((type) => !endpoint.eventTypes.includes(type));

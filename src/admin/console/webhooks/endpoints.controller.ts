import { Param } from '@nestjs/common';
import { ClientsService } from '../../../clients/clients.service.js';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { pageRequestOf } from '../../../http/paging.js';
import { Context } from '../../../http/page-routes/page-context.js';
import { EndpointsService } from '../../../webhooks/endpoints/endpoints.service.js';
import { EventTypesService } from '../../../webhooks/event-types/event-types.service.js';
import {
  EndpointChangesDto,
  NewEndpointDto,
  toEndpointChanges,
  toNewEndpoint,
} from '../../admin-webhook-endpoints.dto.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { attempt, formValue, type FieldErrors } from '../form-attempt.js';
import { ONCE_FIELD } from '../form-ids.service.js';
import { clientPath } from '../clients/client-layout.js';
import { listQuery, NOTHING, typedFilter } from '../list-query.js';
import {
  EMPTY_ENDPOINT,
  endpointFieldsIn,
  endpointFieldsOf,
  sendsElsewhere,
  type EndpointFields,
} from './endpoint-form.js';
import { editEndpointPage, newEndpointPage } from './endpoint-form.pages.js';
import { ENDPOINTS_PATH, endpointPath } from './endpoint-paths.js';
import { deleteEndpointPage, endpointPage, endpointSecretPage } from './endpoint.pages.js';
import { EndpointsQuery } from './endpoints-query.dto.js';
import { endpointsPage } from './endpoints.page.js';

const newPath = (clientId: string): string => clientPath(clientId, 'endpoints/new');

/** Webhook endpoints of all clients. */
@ConsolePages()
export class ConsoleEndpointsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly clients: ClientsService,
    private readonly eventTypes: EventTypesService,
  ) {}

  @ConsoleGet('endpoints')
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(EndpointsQuery, context.url));
    if (errors) {
      const { client_id: clientId, state } = typedFilter(context.url);
      const filter = { clientId, isDisabled: state === 'disabled' };
      return {
        html: endpointsPage({ layoutProps: context.layoutProps, filter, page: NOTHING, errors }),
        status: 400,
      };
    }
    const filter = { clientId: query.client_id, isDisabled: query.state === 'disabled' };
    const page = await this.endpoints.listAll(filter, pageRequestOf(query));
    return { html: endpointsPage({ layoutProps: context.layoutProps, filter, page }) };
  }

  @ConsoleGet('clients/:client_id/endpoints/new', 'asked')
  askForNew(
    @Context() context: ConsoleContext,
    @Param('client_id') clientId: string,
  ): Promise<ConsoleAnswer> {
    return this.newForm(context, clientId, EMPTY_ENDPOINT, context.onceFor('endp', newPath(clientId)));
  }

  /** Adds an endpoint, once; the next page shows its secret. */
  @ConsolePost('clients/:client_id/endpoints/new', 'asked in the form')
  async create(
    @Context() context: ConsoleContext,
    @Param('client_id') clientId: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    const fields = endpointFieldsIn(form);
    const id = context.onceIn(form, 'endp', newPath(clientId));
    const again = (errors: FieldErrors) =>
      this.newForm(context, clientId, fields, form.get(ONCE_FIELD)!, errors);
    const ask = await context.askPassword(form);
    if (ask) return again(ask);
    const { done, errors } = await attempt(async () => {
      const input = toNewEndpoint(await formValue(NewEndpointDto, { ...fields }));
      return this.endpoints.createOnce(id, clientId, input, context.actor);
    });
    if (errors) return again(errors);
    const goTo = endpointPath(id, 'secret');
    return done ? { goTo, showOnce: { secret: done.secret } } : { goTo };
  }

  /** The signing secret of an endpoint that was just added, shown once. */
  @ConsoleGet('endpoints/:id/secret')
  async showSecret(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const endpoint = await this.endpoints.get(id);
    const shown = context.takeShown() as { secret: string } | undefined;
    const html = endpointSecretPage({ layoutProps: context.layoutProps, endpoint, secret: shown?.secret });
    return { html, withScript: true };
  }

  @ConsoleGet('endpoints/:id')
  async show(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const endpoint = await this.endpoints.get(id);
    const client = await this.clients.get(endpoint.clientId);
    return {
      html: endpointPage({ layoutProps: context.layoutProps, endpoint, client, tokenFor: context.tokenFor }),
    };
  }

  @ConsoleGet('endpoints/:id/edit')
  async askForChanges(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.editForm(context, id, endpointFieldsOf(await this.endpoints.get(id)));
  }

  @ConsolePost('endpoints/:id/edit', 'asked in the form')
  async change(
    @Context() context: ConsoleContext,
    @Param('id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    const fields = endpointFieldsIn(form);
    const ask = sendsElsewhere(await this.endpoints.get(id), fields)
      ? await context.askPassword(form)
      : undefined;
    if (ask) return this.editForm(context, id, fields, ask);
    const { errors } = await attempt(async () => {
      const changes = toEndpointChanges(await formValue(EndpointChangesDto, { ...fields }));
      await this.endpoints.update(id, undefined, changes, context.actor);
    });
    if (errors) return this.editForm(context, id, fields, errors);
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
  async askToDelete(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const endpoint = await this.endpoints.get(id);
    const csrfToken = context.tokenFor(endpointPath(id, 'delete'));
    return { html: deleteEndpointPage({ layoutProps: context.layoutProps, endpoint, csrfToken }) };
  }

  @ConsolePost('endpoints/:id/delete', 'asked')
  async delete(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    await this.endpoints.delete(id, undefined, context.actor);
    return { goTo: ENDPOINTS_PATH, notice: 'endpoint_deleted' };
  }

  private async newForm(
    context: ConsoleContext,
    clientId: string,
    fields: EndpointFields,
    once: string,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(clientId);
    const types = await this.eventTypes.listFor(client.scopes);
    const csrfToken = context.tokenFor(newPath(clientId));
    const html = newEndpointPage({
      layoutProps: context.layoutProps,
      client,
      types,
      fields,
      once,
      csrfToken,
      errors,
    });
    return { html, status: errors ? 400 : 200, withScript: true };
  }

  private async editForm(
    context: ConsoleContext,
    id: string,
    fields: EndpointFields,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const endpoint = await this.endpoints.get(id);
    const client = await this.clients.get(endpoint.clientId);
    const types = await this.eventTypes.listFor(client.scopes);
    const csrfToken = context.tokenFor(endpointPath(id, 'edit'));
    const html = editEndpointPage({
      layoutProps: context.layoutProps,
      endpoint,
      types,
      fields,
      csrfToken,
      errors,
    });
    return { html, status: errors ? 400 : 200 };
  }
}

import { Param } from '@nestjs/common';
import { ClientsService } from '../../../clients/clients.service.js';
import { FormBody } from '../../../http/form-body.decorator.js';
import type { Form } from '../../../http/form.js';
import { pageRequestOf } from '../../../http/paging.js';
import { EndpointsService } from '../../../webhooks/endpoints/endpoints.service.js';
import { EventTypesService } from '../../../webhooks/event-types/event-types.service.js';
import {
  EndpointChangesDto,
  NewEndpointDto,
  toEndpointChanges,
  toNewEndpoint,
} from '../../admin-webhook-endpoints.dto.js';
import { ConsolePages, Does, Shows, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt, formValue, type FieldErrors } from '../form-attempt.js';
import { listQuery } from '../list-query.js';
import { EMPTY_ENDPOINT, endpointFieldsIn, endpointFieldsOf, type EndpointFields } from './endpoint-form.js';
import { editEndpointPage, newEndpointPage } from './endpoint-form.pages.js';
import { ENDPOINTS_PATH, endpointPath } from './endpoint-paths.js';
import { deleteEndpointPage, endpointPage, endpointSecretPage } from './endpoint.pages.js';
import { EndpointsQuery } from './endpoints-query.dto.js';
import { endpointsPage } from './endpoints.page.js';

/** Webhook endpoints of all clients. */
@ConsolePages()
export class ConsoleEndpointsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly clients: ClientsService,
    private readonly eventTypes: EventTypesService,
  ) {}

  @Shows('endpoints')
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(EndpointsQuery, visit.url));
    if (errors) {
      const page = { items: [], hasNext: false, hasPrevious: false };
      return { html: endpointsPage({ frame: visit.frame, filter: {}, page, errors }), status: 400 };
    }
    const filter = { clientId: query.client_id, isDisabled: query.state === 'disabled' };
    const page = await this.endpoints.listAll(filter, pageRequestOf(query));
    return { html: endpointsPage({ frame: visit.frame, filter, page }) };
  }

  @Shows('clients/:client_id/endpoints/new')
  askForNew(@Visit() visit: ConsoleVisit, @Param('client_id') clientId: string): Promise<ConsoleAnswer> {
    return this.newForm(visit, clientId, EMPTY_ENDPOINT);
  }

  /** Adds an endpoint; the page that follows shows its secret. */
  @Does('clients/:client_id/endpoints/new')
  async create(
    @Visit() visit: ConsoleVisit,
    @Param('client_id') clientId: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    const fields = endpointFieldsIn(form);
    const { done, errors } = await attempt(async () =>
      this.endpoints.create(
        clientId,
        toNewEndpoint(await formValue(NewEndpointDto, { ...fields })),
        visit.actor,
      ),
    );
    if (errors) return this.newForm(visit, clientId, fields, errors);
    return { html: endpointSecretPage({ frame: visit.frame, ...done }) };
  }

  @Shows('endpoints/:id')
  async show(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const endpoint = await this.endpoints.get(id);
    const client = await this.clients.get(endpoint.clientId);
    return { html: endpointPage({ frame: visit.frame, endpoint, client, tokenFor: visit.tokenFor }) };
  }

  @Shows('endpoints/:id/edit')
  async askForChanges(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.editForm(visit, id, endpointFieldsOf(await this.endpoints.get(id)));
  }

  @Does('endpoints/:id/edit')
  async change(
    @Visit() visit: ConsoleVisit,
    @Param('id') id: string,
    @FormBody() form: Form,
  ): Promise<ConsoleAnswer> {
    const fields = endpointFieldsIn(form);
    const { errors } = await attempt(async () => {
      const changes = toEndpointChanges(await formValue(EndpointChangesDto, { ...fields }));
      await this.endpoints.update(id, undefined, changes, visit.actor);
    });
    if (errors) return this.editForm(visit, id, fields, errors);
    return { goTo: endpointPath(id), notice: 'endpoint_changed' };
  }

  @Does('endpoints/:id/enable')
  async enable(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    await this.endpoints.update(id, undefined, { enabled: true }, visit.actor);
    return { goTo: endpointPath(id), notice: 'endpoint_enabled' };
  }

  @Does('endpoints/:id/disable')
  async disable(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    await this.endpoints.update(id, undefined, { enabled: false }, visit.actor);
    return { goTo: endpointPath(id), notice: 'endpoint_disabled' };
  }

  @Shows('endpoints/:id/delete')
  async askToDelete(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const endpoint = await this.endpoints.get(id);
    const csrfToken = visit.tokenFor(endpointPath(id, 'delete'));
    return { html: deleteEndpointPage({ frame: visit.frame, endpoint, csrfToken }) };
  }

  @Does('endpoints/:id/delete')
  async delete(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    await this.endpoints.delete(id, undefined, visit.actor);
    return { goTo: ENDPOINTS_PATH, notice: 'endpoint_deleted' };
  }

  private async newForm(
    visit: ConsoleVisit,
    clientId: string,
    fields: EndpointFields,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const client = await this.clients.get(clientId);
    const types = await this.eventTypes.listFor(client.scopes);
    const csrfToken = visit.tokenFor(`/admin/console/clients/${clientId}/endpoints/new`);
    const html = newEndpointPage({ frame: visit.frame, client, types, fields, csrfToken, errors });
    return { html, status: errors ? 400 : 200 };
  }

  private async editForm(
    visit: ConsoleVisit,
    id: string,
    fields: EndpointFields,
    errors?: FieldErrors,
  ): Promise<ConsoleAnswer> {
    const endpoint = await this.endpoints.get(id);
    const client = await this.clients.get(endpoint.clientId);
    const types = await this.eventTypes.listFor(client.scopes);
    const csrfToken = visit.tokenFor(endpointPath(id, 'edit'));
    const html = editEndpointPage({ frame: visit.frame, endpoint, types, fields, csrfToken, errors });
    return { html, status: errors ? 400 : 200 };
  }
}

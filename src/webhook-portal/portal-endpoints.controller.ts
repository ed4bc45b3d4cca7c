import { Controller, Get, Param, Post, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { FormBody } from '../http/form-body.decorator.js';
import type { Form } from '../http/form.js';
import { Problem } from '../http/problem.js';
import { ENDPOINTS_PER_CLIENT, EndpointsService } from '../webhooks/endpoints/endpoints.service.js';
import { EventTypesService } from '../webhooks/event-types/event-types.service.js';
import { endpointFormPage, type EndpointErrors, type EndpointInput } from './pages/endpoint-form.page.js';
import { endpointsPage } from './pages/endpoints.page.js';
import { PortalPage, Visit } from './portal-page.decorator.js';
import type { PortalVisit } from './portal-visit.js';

const NO_INPUT: EndpointInput = { url: '', description: '', eventTypes: [] };

/** The list of endpoints, and the forms for adding and editing (contract §11.1). */
@Controller('portal')
export class PortalEndpointsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly eventTypes: EventTypesService,
  ) {}

  @Get()
  @PortalPage()
  async list(@Visit() visit: PortalVisit, @Res() reply: FastifyReply): Promise<void> {
    const { items } = await this.endpoints.list(visit.clientId, { size: ENDPOINTS_PER_CLIENT });
    visit.send(reply, endpointsPage({ frame: visit.frame(), endpoints: items }));
  }

  @Get('endpoints/new')
  @PortalPage()
  showNew(@Visit() visit: PortalVisit, @Res() reply: FastifyReply): Promise<void> {
    return this.sendForm(visit, reply, { input: NO_INPUT, errors: {} });
  }

  /** Adds it and redirects to its page; errors are shown beside the fields. */
  @Post('endpoints/new')
  @PortalPage()
  async create(
    @Visit() visit: PortalVisit,
    @FormBody() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    visit.check(form, 'add endpoint');
    const input = inputOf(form);
    try {
      const { endpoint } = await this.endpoints.create(visit.clientId, input, visit.actor);
      visit.goOn(reply, `/portal/endpoints/${endpoint.id}`, 'endpoint_added');
    } catch (error) {
      await this.sendForm(visit, reply, { input: typedIn(form), ...refusalOf(error) });
    }
  }

  @Get('endpoints/:id/edit')
  @PortalPage()
  async showEdit(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const { url, description, eventTypes } = await this.endpoints.get(id, visit.clientId);
    await this.sendForm(visit, reply, { id, input: { url, description, eventTypes }, errors: {} });
  }

  /** Saves all fields or none. */
  @Post('endpoints/:id/edit')
  @PortalPage()
  async update(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @FormBody() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    await this.endpoints.get(id, visit.clientId);
    visit.check(form, `edit ${id}`);
    try {
      await this.endpoints.update(id, visit.clientId, inputOf(form), visit.actor);
      visit.goOn(reply, `/portal/endpoints/${id}`, 'endpoint_saved');
    } catch (error) {
      await this.sendForm(visit, reply, { id, input: typedIn(form), ...refusalOf(error) });
    }
  }

  private async sendForm(
    visit: PortalVisit,
    reply: FastifyReply,
    what: { id?: string; input: EndpointInput; errors: EndpointErrors; status?: number },
  ): Promise<void> {
    const { id, input, errors, status } = what;
    const html = endpointFormPage({
      frame: visit.frame(),
      csrfToken: visit.tokenFor(id === undefined ? 'add endpoint' : `edit ${id}`),
      id,
      input,
      errors,
      eventTypes: await this.eventTypes.listFor(visit.visitor.scopes),
    });
    visit.send(reply, html, status);
  }
}

const typedIn = (form: Form): EndpointInput => ({
  url: form.get('url') ?? '',
  description: form.get('description') ?? '',
  eventTypes: form.getAll('event_types'),
});

/** Trims spaces that were pasted along, and removes duplicate types. */
function inputOf(form: Form): EndpointInput {
  const { url, description, eventTypes } = typedIn(form);
  return { url: url.trim(), description: description.trim(), eventTypes: [...new Set(eventTypes)] };
}

/** The errors to show beside the fields; anything that is not an input error is rethrown. */
function refusalOf(error: unknown): { errors: EndpointErrors; status: number } {
  if (!(error instanceof Problem)) throw error;
  if (error.status === 409) return { errors: { form: error.detail }, status: 409 };
  const { fieldErrors } = error.extras;
  if (!fieldErrors) throw error;
  const { url, description, event_types: types } = fieldErrors;
  return {
    status: 400,
    errors: {
      ...(url ? { url: `The URL ${sentence(url)}` } : {}),
      ...(description ? { description: `The description ${sentence(description)}` } : {}),
      ...(types ? { eventTypes: typesError(types) } : {}),
    },
  };
}

const sentence = (errors: string[]): string => errors.join(', and ').replace(/([^.])$/, '$1.');

const typesError = (errors: string[]): string =>
  errors[0] === 'must contain at least one event type'
    ? 'Choose at least one event type.'
    : `These event types cannot be chosen: ${sentence(errors)}`;

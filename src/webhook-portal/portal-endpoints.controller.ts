import { Param } from '@nestjs/common';
import type { Form } from '../http/forms/form.js';
import { Context } from '../http/page-routes/page-context.js';
import type { FieldErrors } from '../web/forms/field.js';
import { Problem } from '../http/problems/problem.js';
import { ENDPOINTS_PER_CLIENT, EndpointsService } from '../webhooks/endpoints/endpoints.service.js';
import { EventTypesService } from '../webhooks/event-types/event-types.service.js';
import { endpointFormPage, type EndpointInput } from './pages/endpoint-form.page.js';
import { endpointsPage } from './pages/endpoints.page.js';
import type { PortalAnswer, PortalContext } from './portal-context.js';
import { PortalGet, PortalPages, PortalPost } from './portal-pages.decorator.js';

const NO_INPUT: EndpointInput = { url: '', description: '', event_types: [] };

/** The list of endpoints, and the forms for adding and editing (contract §11.1). */
@PortalPages()
export class PortalEndpointsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly eventTypes: EventTypesService,
  ) {}

  @PortalGet('', 'viewer')
  async list(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { items } = await this.endpoints.list(context.clientId, { size: ENDPOINTS_PER_CLIENT });
    return { page: endpointsPage(items) };
  }

  @PortalGet('endpoints/new', 'developer')
  showNew(@Context() context: PortalContext): Promise<PortalAnswer> {
    return this.form(context, { input: NO_INPUT, errors: {} });
  }

  /** Adds it and redirects to its page; errors are shown beside the fields. */
  @PortalPost('endpoints/new', 'nothing', 'developer')
  async create(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { form } = context;
    try {
      const { endpoint } = await this.endpoints.create(context.clientId, inputOf(form), context.actor);
      return { goTo: `/portal/endpoints/${endpoint.id}`, notice: 'endpoint_added' };
    } catch (error) {
      return this.form(context, { input: typedIn(form), ...refusalOf(error) });
    }
  }

  @PortalGet('endpoints/:id/edit', 'developer')
  async showEdit(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const { url, description, eventTypes } = await this.endpoints.get(id, context.clientId);
    return this.form(context, { id, input: { url, description, event_types: eventTypes }, errors: {} });
  }

  /** Saves all fields or none. */
  @PortalPost('endpoints/:id/edit', 'an endpoint', 'developer')
  async update(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const { form } = context;
    try {
      await this.endpoints.update(id, context.clientId, inputOf(form), context.actor);
      return { goTo: `/portal/endpoints/${id}`, notice: 'endpoint_saved' };
    } catch (error) {
      return this.form(context, { id, input: typedIn(form), ...refusalOf(error) });
    }
  }

  private async form(
    context: PortalContext,
    what: { id?: string; input: EndpointInput; errors: FieldErrors; status?: number },
  ): Promise<PortalAnswer> {
    const { status, ...props } = what;
    const eventTypes = await this.eventTypes.listFor(context.visitor.scopes);
    return { page: endpointFormPage({ ...props, eventTypes }), status };
  }
}

const typedIn = (form: Form): EndpointInput => ({
  url: form.get('url') ?? '',
  description: form.get('description') ?? '',
  event_types: form.getAll('event_types'),
});

/** Trims spaces that were pasted along, and removes duplicate types. */
function inputOf(form: Form) {
  const { url, description, event_types: types } = typedIn(form);
  return { url: url.trim(), description: description.trim(), eventTypes: [...new Set(types)] };
}

/** The errors to show beside the fields; anything that is not an input error is rethrown. */
function refusalOf(error: unknown): { errors: FieldErrors; status: number } {
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
      ...(types ? { event_types: typesError(types) } : {}),
    },
  };
}

const sentence = (errors: string[]): string => errors.join(', and ').replace(/([^.])$/, '$1.');

const typesError = (errors: string[]): string =>
  errors[0] === 'must contain at least one event type'
    ? 'Choose at least one event type.'
    : `These event types cannot be chosen: ${sentence(errors)}`;

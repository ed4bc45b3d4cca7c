import { Param, Query } from '@nestjs/common';
import { Context } from '#platform/http/page-routes/page-context.js';
import { RateLimitsService } from '#access/rate-limits/rate-limits.service.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { EventTypesService } from '#events/webhooks/event-types/event-types.service.js';
import { TestEventsService } from '#events/webhooks/events/test-events.service.js';
import { testEndpointPage } from './test-endpoint.page.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages, PortalPost } from '../frame/portal-pages.decorator.js';

/** The default type. */
const DEFAULT_TYPE = 'webhook.test';
// Most receivers respond within this time; for the others, the delivery's page keeps waiting.
const WAIT_MS = 3_000;

/** Tests of one endpoint (contract §11.3). */
@PortalPages('endpoints/:id/test')
export class PortalTestsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly eventTypes: EventTypesService,
    private readonly tests: TestEventsService,
    private readonly deliveries: DeliveriesService,
    private readonly limits: RateLimitsService,
  ) {}

  /** `?type=` preselects a type. */
  @PortalGet('', 'developer')
  async show(
    @Context() context: PortalContext,
    @Param('id') id: string,
    @Query('type') type: unknown,
  ): Promise<PortalAnswer> {
    const endpoint = await this.endpoints.get(id, context.clientId);
    return this.form(context, endpoint, { chosen: typeof type === 'string' ? type : DEFAULT_TYPE });
  }

  /** Sends the test, waits briefly for the response, and redirects to the delivery's page; a 429 page over the limit. */
  @PortalPost('', 'an endpoint', 'developer')
  async send(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { endpoint, actor, visitor } = context;
    const chosen = context.form.get('type') ?? '';
    const allowed = await this.eventTypes.listFor(visitor.scopes);
    if (!allowed.some(({ name }) => name === chosen)) {
      const error = 'Choose one of these event types: your client cannot receive any other.';
      return this.form(context, endpoint, { chosen, error });
    }
    await this.limits.countPortalSending(context.client);
    const deliveryId = await this.tests.send(endpoint, chosen, visitor.scopes, actor.requestId);
    await this.deliveries.waitUntilFinished(deliveryId, WAIT_MS);
    return { goTo: `/portal/deliveries/${deliveryId}` };
  }

  private async form(
    context: PortalContext,
    endpoint: EndpointEntity,
    { chosen, error }: { chosen: string; error?: string },
  ): Promise<PortalAnswer> {
    const eventTypes = await this.eventTypes.listFor(context.visitor.scopes);
    const errors = error === undefined ? {} : { type: error };
    return { page: testEndpointPage({ endpoint, eventTypes, chosen, errors }), status: error ? 400 : 200 };
  }
}

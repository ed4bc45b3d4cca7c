import { Controller, Get, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { FormBody } from '../http/form-body.decorator.js';
import type { Form } from '../http/form.js';
import { RateLimitsService } from '../rate-limits/rate-limits.service.js';
import { DeliveriesService } from '../webhooks/deliveries/deliveries.service.js';
import type { EndpointEntity } from '../webhooks/endpoints/endpoint.entity.js';
import { EndpointsService } from '../webhooks/endpoints/endpoints.service.js';
import { EventTypesService } from '../webhooks/event-types/event-types.service.js';
import { TestEventsService } from '../webhooks/events/test-events.service.js';
import { testEndpointPage } from './pages/test-endpoint.page.js';
import { PortalPage, Visit } from './portal-page.decorator.js';
import type { PortalVisit } from './portal-visit.js';

/** The default type. */
const DEFAULT_TYPE = 'webhook.test';
// Most receivers respond within this time; for the others, the delivery's page keeps waiting.
const WAIT_MS = 3_000;

/** Tests of one endpoint (contract §11.3). */
@Controller('portal/endpoints/:id/test')
export class PortalTestsController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly eventTypes: EventTypesService,
    private readonly tests: TestEventsService,
    private readonly deliveries: DeliveriesService,
    private readonly limits: RateLimitsService,
  ) {}

  /** `?type=` preselects a type. */
  @Get()
  @PortalPage()
  async show(
    @Param('id') id: string,
    @Query('type') type: unknown,
    @Visit() visit: PortalVisit,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const endpoint = await this.endpoints.get(id, visit.clientId);
    await this.sendForm(endpoint, visit, reply, { chosen: typeof type === 'string' ? type : DEFAULT_TYPE });
  }

  /** Sends the test, waits briefly for the response, and redirects to the delivery's page; a 429 page over the limit. */
  @Post()
  @PortalPage()
  async send(
    @Param('id') id: string,
    @Visit() visit: PortalVisit,
    @FormBody() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const endpoint = await this.endpoints.get(id, visit.clientId);
    visit.check(form, `test ${id}`);
    const chosen = form.get('type') ?? '';
    const allowed = await this.eventTypes.listFor(visit.visitor.scopes);
    if (!allowed.some(({ name }) => name === chosen)) {
      const error = 'Choose one of these event types: your application cannot receive any other.';
      return this.sendForm(endpoint, visit, reply, { chosen, error });
    }
    await this.limits.countPortalSending(visit.clientId);
    const deliveryId = await this.tests.send(endpoint, chosen, visit.visitor.scopes);
    await this.deliveries.waitUntilFinished(deliveryId, WAIT_MS);
    visit.goOn(reply, `/portal/deliveries/${deliveryId}`);
  }

  private async sendForm(
    { id, url, enabled }: EndpointEntity,
    visit: PortalVisit,
    reply: FastifyReply,
    { chosen, error }: { chosen: string; error?: string },
  ): Promise<void> {
    const html = testEndpointPage({
      frame: visit.frame(),
      csrfToken: visit.tokenFor(`test ${id}`),
      endpoint: { id, url, enabled },
      eventTypes: await this.eventTypes.listFor(visit.visitor.scopes),
      chosen,
      error,
    });
    visit.send(reply, html, error ? 400 : 200);
  }
}

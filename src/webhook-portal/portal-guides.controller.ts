import { Controller, Get, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { FormBody } from '../http/form-body.decorator.js';
import type { Form } from '../http/form.js';
import { DeliveriesService } from '../webhooks/deliveries/deliveries.service.js';
import { ENDPOINTS_PER_CLIENT, EndpointsService } from '../webhooks/endpoints/endpoints.service.js';
import { EventTypesService } from '../webhooks/event-types/event-types.service.js';
import { cataloguePage } from './pages/catalogue.page.js';
import { checkWords } from './pages/check-messages.js';
import { verifyPage, type VerifyPageProps } from './pages/verify.page.js';
import { PortalPage, Visit } from './portal-page.decorator.js';
import type { PortalVisit } from './portal-visit.js';
import { checkSignature, deliveryNamed, headersIn, NO_INPUT, sentWith, typedIn } from './signature-check.js';

/** The documentation for receiving events: the event catalogue, and how to verify a signature (contract §11.5). */
@Controller('portal')
export class PortalGuidesController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly eventTypes: EventTypesService,
  ) {}

  @Get('event_types')
  @PortalPage()
  async catalogue(@Visit() visit: PortalVisit, @Res() reply: FastifyReply): Promise<void> {
    const eventTypes = await this.eventTypes.listFor(visit.visitor.scopes);
    visit.send(reply, cataloguePage({ frame: visit.frame(), eventTypes }));
  }

  /** `?delivery=` fills in the checker with what its last attempt sent. */
  @Get('verify')
  @PortalPage()
  async showVerify(
    @Query('delivery') id: unknown,
    @Visit() visit: PortalVisit,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    const input = typeof id === 'string' ? sentWith(await this.deliveries.get(id, visit.clientId)) : NO_INPUT;
    await this.sendVerify(visit, reply, { input });
  }

  /** Checks headers and body with the secrets of the endpoint, and explains a mismatch. Nothing is stored. */
  @Post('verify')
  @PortalPage()
  async check(
    @Visit() visit: PortalVisit,
    @FormBody() form: Form,
    @Res() reply: FastifyReply,
  ): Promise<void> {
    visit.check(form, 'verify');
    const input = typedIn(form);
    const secrets = await this.endpoints.liveSecrets(input.endpoint, visit.clientId);
    if (secrets.length === 0) {
      return this.sendVerify(visit, reply, { input, endpointError: 'Choose one of your endpoints.' });
    }
    const headers = headersIn(input);
    const result = checkSignature(secrets, headers, input.body);
    const delivery = result.matches
      ? undefined
      : await deliveryNamed(this.deliveries, headers, visit.clientId);
    const words = checkWords(result, input, delivery);
    await this.sendVerify(visit, reply, { input, result: { matches: result.matches, words } });
  }

  private async sendVerify(
    visit: PortalVisit,
    reply: FastifyReply,
    props: Pick<VerifyPageProps, 'input' | 'result' | 'endpointError'>,
  ): Promise<void> {
    const { items } = await this.endpoints.list(visit.clientId, { size: ENDPOINTS_PER_CLIENT });
    const html = verifyPage({
      frame: visit.frame(),
      csrfToken: visit.tokenFor('verify'),
      endpoints: items,
      ...props,
    });
    visit.send(reply, html, props.endpointError ? 400 : 200);
  }
}

import { Query } from '@nestjs/common';
import { Context } from '#platform/http/page-routes/page-context.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { ENDPOINTS_PER_CLIENT, EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { WebhookKeys } from '#events/webhooks/signing/webhook-keys.service.js';
import { EventTypesService } from '#events/webhooks/event-types/event-types.service.js';
import { cataloguePage } from './catalogue.page.js';
import { checkMessages } from './check-messages.js';
import { verifyPage, type VerifyPageProps } from './verify.page.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages, PortalPost } from '../frame/portal-pages.decorator.js';
import { checkSignature, deliveryNamed, headersIn, NO_INPUT, sentWith, typedIn } from './signature-check.js';

/** The documentation for receiving events: the event catalogue, and how to verify a signature (contract §11.5). */
@PortalPages()
export class PortalGuidesController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly eventTypes: EventTypesService,
    private readonly webhookKeys: WebhookKeys,
  ) {}

  @PortalGet('event_types', 'viewer')
  async catalogue(@Context() context: PortalContext): Promise<PortalAnswer> {
    const eventTypes = await this.eventTypes.listFor(context.visitor.scopes);
    return { page: cataloguePage(eventTypes) };
  }

  /** `?delivery=` fills the checker with what its last attempt sent, or the attempt numbered `?attempt=`. */
  @PortalGet('verify', 'viewer')
  async showVerify(
    @Context() context: PortalContext,
    @Query('delivery') id: unknown,
    @Query('attempt') attempt: unknown,
  ): Promise<PortalAnswer> {
    const delivery = typeof id === 'string' ? await this.deliveries.get(id, context.clientId) : undefined;
    return this.verifyForm(context, { input: delivery ? sentWith(delivery, Number(attempt)) : NO_INPUT });
  }

  /** Checks headers and body with the secrets of the endpoint, and explains a mismatch. Nothing is stored. */
  @PortalPost('verify', 'nothing', 'viewer')
  async check(@Context() context: PortalContext): Promise<PortalAnswer> {
    const input = typedIn(context.form);
    const secrets = await this.endpoints.liveSecrets(input.endpoint, context.clientId);
    if (secrets.length === 0) {
      return this.verifyForm(context, { input, errors: { endpoint: 'Choose one of your endpoints.' } });
    }
    const headers = headersIn(input);
    const publicKeys = await this.webhookKeys.published(context.clientId);
    const result = checkSignature({ secrets, publicKeys }, headers, input.body);
    const delivery = result.matches
      ? undefined
      : await deliveryNamed(this.deliveries, headers, context.clientId);
    const messages = checkMessages(result, input, delivery);
    return this.verifyForm(context, { input, result: { matches: result.matches, messages } });
  }

  private async verifyForm(
    context: PortalContext,
    props: Pick<VerifyPageProps, 'input' | 'result' | 'errors'>,
  ): Promise<PortalAnswer> {
    const { items } = await this.endpoints.list(context.clientId, { size: ENDPOINTS_PER_CLIENT });
    return { page: verifyPage({ endpoints: items, ...props }), status: props.errors ? 400 : 200 };
  }
}

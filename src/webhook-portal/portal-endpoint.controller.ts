import { Param, Query } from '@nestjs/common';
import { DAY_MS } from '../config/durations.js';
import { FormBody } from '../http/form-body.decorator.js';
import type { Form } from '../http/form.js';
import { Context } from '../http/page-routes/page-context.js';
import { badRequest } from '../http/problem.js';
import { DeliveriesService } from '../webhooks/deliveries/deliveries.service.js';
import type { EndpointEntity } from '../webhooks/endpoints/endpoint.entity.js';
import { EndpointsService, nameOfSecret } from '../webhooks/endpoints/endpoints.service.js';
import { bucketsOf, rangeStart, type ChartRange } from './pages/charts/time-buckets.js';
import { deleteEndpointPage } from './pages/delete-endpoint.page.js';
import { endpointPage } from './pages/endpoint.page.js';
import { rotateSecretPage } from './pages/rotate-secret.page.js';
import type { PortalAnswer, PortalContext } from './portal-context.js';
import { PortalGet, PortalPages, PortalPost } from './portal-pages.decorator.js';

const NEWEST = 10;

/** One endpoint (contract §11.2): its page, its secret, and actions on it. Another client's endpoint is a 404 page. */
@PortalPages('endpoints/:id')
export class PortalEndpointController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly deliveries: DeliveriesService,
  ) {}

  /** `?range=7d` shows days instead of hours. */
  @PortalGet()
  async show(
    @Context() context: PortalContext,
    @Param('id') id: string,
    @Query('range') range: unknown,
  ): Promise<PortalAnswer> {
    const endpoint = await this.endpoints.get(id, context.clientId);
    return this.page(context, endpoint, { range: range === '7d' ? '7d' : '24h' });
  }

  @PortalPost('enable', 'an endpoint')
  async enable(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    await this.endpoints.update(id, context.clientId, { enabled: true }, context.actor);
    return { goTo: pathOf(id), notice: 'endpoint_enabled' };
  }

  @PortalPost('disable', 'an endpoint')
  async disable(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    await this.endpoints.update(id, context.clientId, { enabled: false }, context.actor);
    return { goTo: pathOf(id), notice: 'endpoint_disabled' };
  }

  /** Shows the page with the secret in clear text, only in this response. */
  @PortalPost('secret', 'an endpoint')
  async reveal(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { endpoint } = context;
    const secret = await this.endpoints.revealSecret(endpoint, context.actor);
    return this.page(context, endpoint, { range: '24h', secret });
  }

  /** For browsers that open the URL of the revealed secret again. */
  @PortalGet('secret')
  hide(@Param('id') id: string): PortalAnswer {
    return { goTo: pathOf(encodeURIComponent(id)) };
  }

  @PortalGet('rotate')
  async confirmRotation(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const endpoint = await this.endpoints.get(id, context.clientId);
    const { url, previousSecretExpiresAt } = endpoint;
    const action = pathOf(id, 'rotate');
    const html = rotateSecretPage({
      layoutProps: context.layoutProps,
      csrfToken: context.tokenFor(action),
      endpointUrl: url,
      fields: { present: nameOfSecret(endpoint) },
      action,
      back: pathOf(id),
      until: new Date(Date.now() + DAY_MS),
      hasPrevious: previousSecretExpiresAt !== null && previousSecretExpiresAt > new Date(),
    });
    return { html };
  }

  /** Rotates the secret that the page showed; a second submit has no effect. */
  @PortalPost('rotate', 'an endpoint')
  async rotate(
    @Context() context: PortalContext,
    @Param('id') id: string,
    @FormBody() form: Form,
  ): Promise<PortalAnswer> {
    const present = form.get('present');
    if (present === undefined)
      throw badRequest('The form is incomplete. Go back, reload the page and try again.');
    await this.endpoints.rotateSecretOnce(id, context.clientId, present, context.actor);
    return { goTo: pathOf(id), notice: 'secret_rotated' };
  }

  @PortalGet('delete')
  async confirmDeletion(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const { url } = await this.endpoints.get(id, context.clientId);
    const action = pathOf(id, 'delete');
    const html = deleteEndpointPage({
      layoutProps: context.layoutProps,
      csrfToken: context.tokenFor(action),
      endpointUrl: url,
      action,
      back: pathOf(id),
    });
    return { html };
  }

  @PortalPost('delete', 'an endpoint')
  async delete(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    await this.endpoints.delete(id, context.clientId, context.actor);
    return { goTo: '/portal', notice: 'endpoint_deleted' };
  }

  private async page(
    context: PortalContext,
    endpoint: EndpointEntity,
    { range, secret }: { range: ChartRange; secret?: string },
  ): Promise<PortalAnswer> {
    const { id, enabled } = endpoint;
    const now = new Date();
    const [hours, newest] = await Promise.all([
      this.endpoints.hours(id, rangeStart(range, now)),
      this.deliveries.list({ clientId: context.clientId, endpointId: id }, { size: NEWEST }),
    ]);
    const html = endpointPage({
      layoutProps: context.layoutProps,
      endpoint,
      secret,
      range,
      buckets: bucketsOf(hours, range, now),
      deliveries: newest.items,
      revealToken: context.tokenFor(pathOf(id, 'secret')),
      switchToken: context.tokenFor(pathOf(id, enabled ? 'disable' : 'enable')),
    });
    return { html };
  }
}

const pathOf = (id: string, action?: string): string =>
  ['/portal/endpoints', id, ...(action ? [action] : [])].join('/');

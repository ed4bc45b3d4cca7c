import { Param, Query } from '@nestjs/common';
import { HOUR_MS } from '#platform/config/durations.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { badRequest, notFound } from '#platform/http/problems/problem.js';
import { RateLimitsService } from '#access/rate-limits/rate-limits.service.js';
import { DeliveriesService } from '#events/webhooks/deliveries/deliveries.service.js';
import { RecoveriesService } from '#events/webhooks/deliveries/recoveries.service.js';
import type { EndpointHeaders } from '#events/webhooks/endpoints/endpoint-headers.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { RANGES, type Range, rangeStart } from '#platform/web/charts/ranges.js';
import { activityBuckets } from '../deliveries/activity-buckets.js';
import { deleteEndpointPage } from './delete-endpoint.page.js';
import { endpointPage } from './endpoint.page.js';
import { WebhookKeys } from '#events/webhooks/signing/webhook-keys.service.js';
import { rotateKeyPage } from './rotate-key.page.js';
import { rotateSecretPage } from './rotate-secret.page.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages, PortalPost } from '../frame/portal-pages.decorator.js';
import { endpointPath } from './about-endpoint.js';

const NEWEST = 10;

/** One endpoint (contract §11.2): its page, its secret, and actions on it. Another client's endpoint is a 404 page. */
@PortalPages('endpoints/:id')
export class PortalEndpointController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly deliveries: DeliveriesService,
    private readonly recoveries: RecoveriesService,
    private readonly webhookKeys: WebhookKeys,
    private readonly limits: RateLimitsService,
  ) {}

  /** `?range=7d` shows days instead of hours. */
  @PortalGet('', 'viewer')
  async show(
    @Context() context: PortalContext,
    @Param('id') id: string,
    @Query('range') range: unknown,
  ): Promise<PortalAnswer> {
    const endpoint = await this.endpoints.get(id, context.clientId);
    return this.page(context, endpoint, { range: range === '7d' ? '7d' : '24h' });
  }

  @PortalPost('enable', 'an endpoint', 'developer')
  async enable(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    await this.endpoints.update(id, context.clientId, { enabled: true }, context.actor);
    return { goTo: endpointPath(id), notice: 'endpoint_enabled' };
  }

  @PortalPost('disable', 'an endpoint', 'developer')
  async disable(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    await this.endpoints.update(id, context.clientId, { enabled: false }, context.actor);
    return { goTo: endpointPath(id), notice: 'endpoint_disabled' };
  }

  /** Shows the page with the secret in clear text, only in this response. */
  @PortalPost('secret', 'an endpoint', 'developer')
  async reveal(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { endpoint } = context;
    const secret = await this.endpoints.revealSecret(endpoint, context.actor);
    return this.page(context, endpoint, { range: '24h', secret });
  }

  /** The same for the values of its own headers. */
  @PortalPost('headers', 'an endpoint', 'developer')
  async revealHeaders(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { endpoint } = context;
    const headers = await this.endpoints.revealHeaders(endpoint, context.actor);
    return this.page(context, endpoint, { range: '24h', headers });
  }

  /** Redirects a reload of this POST-only URL. */
  @PortalGet('headers', 'viewer')
  hideHeaders(@Param('id') id: string): PortalAnswer {
    return { goTo: endpointPath(encodeURIComponent(id)) };
  }

  /** Sends the events that were not sent while it was disabled, once; a 409 page if there are none, a 429 page over the limit. */
  @PortalPost('missed', 'an endpoint', 'developer')
  async sendMissed(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    await this.limits.countPortalRecovery(context.client);
    const recoveryId = await this.recoveries.sendMissed(context.clientId, id, context.actor);
    return { goTo: `/portal/recoveries/${recoveryId}` };
  }

  /** Redirects a reload of the POST-only URL of the revealed secret. */
  @PortalGet('secret', 'viewer')
  hide(@Param('id') id: string): PortalAnswer {
    return { goTo: endpointPath(encodeURIComponent(id)) };
  }

  @PortalGet('rotate', 'developer')
  async confirmRotation(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    return { page: rotateSecretPage(await this.endpoints.get(id, context.clientId)) };
  }

  /** Rotates the secret that the page showed; a second submit has no effect. */
  @PortalPost('rotate', 'an endpoint', 'developer')
  async rotate(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const present = context.form.get('present');
    if (present === undefined)
      throw badRequest('The form is incomplete. Go back, reload the page and try again.');
    await this.endpoints.rotateSecretOnce(id, context.clientId, present, context.actor);
    return { goTo: endpointPath(id), notice: 'secret_rotated' };
  }

  @PortalGet('rotate-key', 'developer')
  async confirmKeyRotation(
    @Context() context: PortalContext,
    @Param('id') id: string,
  ): Promise<PortalAnswer> {
    const endpoint = await this.endpoints.get(id, context.clientId);
    const [present] = await this.webhookKeys.published(context.clientId);
    if (!present) throw notFound('No endpoint of this client has signatures with a key yet.');
    return { page: rotateKeyPage(endpoint, present.kid) };
  }

  /** Rotates the key that the page showed, for all endpoints of the client; a second submit has no effect. */
  @PortalPost('rotate-key', 'an endpoint', 'developer')
  async rotateKey(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const present = context.form.get('present');
    if (present === undefined)
      throw badRequest('The form is incomplete. Go back, reload the page and try again.');
    await this.webhookKeys.rotateOnce(context.clientId, present, context.actor);
    return { goTo: endpointPath(id), notice: 'key_rotated' };
  }

  @PortalGet('delete', 'developer')
  async confirmDeletion(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    return { page: deleteEndpointPage(await this.endpoints.get(id, context.clientId)) };
  }

  @PortalPost('delete', 'an endpoint', 'developer')
  async delete(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    await this.endpoints.delete(id, context.clientId, context.actor);
    return { goTo: '/portal', notice: 'endpoint_deleted' };
  }

  private async page(
    context: PortalContext,
    endpoint: EndpointEntity,
    { range, secret, headers }: { range: Range; secret?: string; headers?: EndpointHeaders },
  ): Promise<PortalAnswer> {
    const { id } = endpoint;
    const now = new Date();
    const failed =
      endpoint.enabled && endpoint.failingSince !== null
        ? { from: new Date(endpoint.failingSince.getTime() - HOUR_MS), to: new Date(now.getTime() + 1000) }
        : undefined;
    const hasKeys = endpoint.signatureVersions.includes('v1a');
    const [hours, newest, missed, count, publicKeys] = await Promise.all([
      this.endpoints.hours(id, rangeStart(RANGES[range], now)),
      this.deliveries.list({ clientId: context.clientId, endpointId: id }, { size: NEWEST }),
      endpoint.enabled ? this.recoveries.missed(id) : undefined,
      failed ? this.recoveries.countFailed(context.clientId, { endpointId: id, ...failed }) : 0,
      hasKeys ? this.webhookKeys.published(context.clientId) : [],
    ]);
    const page = endpointPage({
      endpoint,
      secret,
      headers,
      publicKeys,
      missed,
      failed: failed && { ...failed, count },
      range,
      buckets: activityBuckets(hours, range, now),
      deliveries: newest.items,
    });
    return { page };
  }
}

import { Param } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import type { Form } from '#platform/http/forms/form.js';
import { Context } from '#platform/http/page-routes/page-context.js';
import { RateLimitsService } from '#access/rate-limits/rate-limits.service.js';
import { RecoveriesService } from '#events/webhooks/deliveries/recoveries.service.js';
import { longestOf } from '#events/webhooks/deliveries/retry-schedule.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { EndpointsService } from '#events/webhooks/endpoints/endpoints.service.js';
import { recoverPage } from './recover.page.js';
import { recoveryPage } from './recovery.page.js';
import type { PortalAnswer, PortalContext } from '../frame/portal-context.js';
import { PortalGet, PortalPages, PortalPost } from '../frame/portal-pages.decorator.js';
import { readRecoveryQuery, type RecoveryQuery } from './recovery-query.js';

/** Recoveries resend what was created between two times and failed (contract §11.4), with a count before and progress during. */
@PortalPages()
export class PortalRecoveriesController {
  constructor(
    private readonly endpoints: EndpointsService,
    private readonly recoveries: RecoveriesService,
    private readonly limits: RateLimitsService,
    private readonly settings: Settings,
  ) {}

  /** Counts what was created `from` … `to` (UTC) and failed; by default what can have failed in the last 24 hours. */
  @PortalGet('endpoints/:id/recover', 'developer')
  async count(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const endpoint = await this.endpoints.get(id, context.clientId);
    const query = this.queryIn(context.query);
    return this.form(context, endpoint, query);
  }

  /** Resends them; a 429 page over the limit. */
  @PortalPost('endpoints/:id/recover', 'an endpoint', 'developer')
  async recover(@Context() context: PortalContext): Promise<PortalAnswer> {
    const { endpoint } = context;
    const query = this.queryIn(context.form);
    if (!query.range || !endpoint.enabled) return this.form(context, endpoint, query);
    const range = { endpointId: endpoint.id, ...query.range };
    await this.limits.countPortalRecovery(context.client);
    const recoveryId = await this.recoveries.recover(context.clientId, range, context.actor);
    return { goTo: `/portal/recoveries/${recoveryId}` };
  }

  @PortalGet('recoveries/:id', 'viewer')
  async show(@Context() context: PortalContext, @Param('id') id: string): Promise<PortalAnswer> {
    const recovery = await this.recoveries.recovery(id, context.clientId);
    return { page: recoveryPage({ recovery, now: new Date() }) };
  }

  private queryIn(form: Form): RecoveryQuery {
    return readRecoveryQuery(form, new Date(), longestOf(this.settings.webhookRetrySchedule) * 1000);
  }

  private async form(
    context: PortalContext,
    endpoint: EndpointEntity,
    query: RecoveryQuery,
  ): Promise<PortalAnswer> {
    const failed = query.range && { endpointId: endpoint.id, ...query.range };
    const count = failed && (await this.recoveries.countFailed(context.clientId, failed));
    return { page: recoverPage({ endpoint, query, count }), status: query.range ? 200 : 400 };
  }
}

import { Param } from '@nestjs/common';
import { pageRequestOf } from '../../../http/paging.js';
import { Context } from '../../../http/page-routes/page-context.js';
import type { DeliveryState } from '../../../webhooks/deliveries/delivery.js';
import { DeliveriesService } from '../../../webhooks/deliveries/deliveries.service.js';
import { DeliveriesQuery } from '../../admin-deliveries.dto.js';
import { ConsolePages, ConsolePost, ConsoleGet } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleContext } from '../console-context.js';
import { attempt, type FieldErrors } from '../form-attempt.js';
import { listQuery, NOTHING, typedFilter } from '../list-query.js';
import { deliveriesPage } from './deliveries.page.js';
import { deliveryPage } from './delivery.page.js';
import { deliveryPath } from './endpoint-paths.js';

/** Deliveries of all clients: list, view, resend. */
@ConsolePages('deliveries')
export class ConsoleDeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @ConsoleGet()
  async list(@Context() context: ConsoleContext): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(DeliveriesQuery, context.url));
    if (errors) {
      const { client_id: clientId, endpoint_id: endpointId, state } = typedFilter(context.url);
      const filter = { clientId, endpointId, state: state as DeliveryState };
      return {
        html: deliveriesPage({ layoutProps: context.layoutProps, filter, page: NOTHING, errors }),
        status: 400,
      };
    }
    const filter = { clientId: query.client_id, endpointId: query.endpoint_id, state: query.state };
    const page = await this.deliveries.list(filter, pageRequestOf(query));
    return { html: deliveriesPage({ layoutProps: context.layoutProps, filter, page }) };
  }

  @ConsoleGet(':id')
  show(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.page(context, id);
  }

  /** Resends it; while an attempt is running, the page says so. */
  @ConsolePost(':id/resend', 'not asked')
  async resend(@Context() context: ConsoleContext, @Param('id') id: string): Promise<ConsoleAnswer> {
    const { errors } = await attempt(() => this.deliveries.resend(id, undefined, context.actor));
    return errors ? this.page(context, id, errors) : { goTo: deliveryPath(id), notice: 'delivery_resent' };
  }

  private async page(context: ConsoleContext, id: string, errors?: FieldErrors): Promise<ConsoleAnswer> {
    const delivery = await this.deliveries.get(id);
    const csrfToken = context.tokenFor(deliveryPath(id, 'resend'));
    const html = deliveryPage({ layoutProps: context.layoutProps, delivery, csrfToken, errors });
    return { html, status: errors ? 409 : 200 };
  }
}

import { Param } from '@nestjs/common';
import { pageRequestOf } from '../../../http/paging.js';
import type { DeliveryState } from '../../../webhooks/deliveries/delivery.js';
import { DeliveriesService } from '../../../webhooks/deliveries/deliveries.service.js';
import { DeliveriesQuery } from '../../admin-deliveries.dto.js';
import { ConsolePages, ConsolePost, ConsoleGet, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
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
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(DeliveriesQuery, visit.url));
    if (errors) {
      const { client_id: clientId, endpoint_id: endpointId, state } = typedFilter(visit.url);
      const filter = { clientId, endpointId, state: state as DeliveryState };
      return { html: deliveriesPage({ frame: visit.frame, filter, page: NOTHING, errors }), status: 400 };
    }
    const filter = { clientId: query.client_id, endpointId: query.endpoint_id, state: query.state };
    const page = await this.deliveries.list(filter, pageRequestOf(query));
    return { html: deliveriesPage({ frame: visit.frame, filter, page }) };
  }

  @ConsoleGet(':id')
  show(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.page(visit, id);
  }

  /** Resends it; while an attempt is running, the page says so. */
  @ConsolePost(':id/resend', 'not asked')
  async resend(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    const { errors } = await attempt(() => this.deliveries.resend(id, undefined, visit.actor));
    return errors ? this.page(visit, id, errors) : { goTo: deliveryPath(id), notice: 'delivery_resent' };
  }

  private async page(visit: ConsoleVisit, id: string, errors?: FieldErrors): Promise<ConsoleAnswer> {
    const delivery = await this.deliveries.get(id);
    const csrfToken = visit.tokenFor(deliveryPath(id, 'resend'));
    const html = deliveryPage({ frame: visit.frame, delivery, csrfToken, errors });
    return { html, status: errors ? 409 : 200 };
  }
}

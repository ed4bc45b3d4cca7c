import { Param } from '@nestjs/common';
import { pageRequestOf } from '../../../http/paging.js';
import { DeliveriesService } from '../../../webhooks/deliveries/deliveries.service.js';
import { DeliveriesQuery } from '../../admin-deliveries.dto.js';
import { ConsolePages, Does, Shows, Visit } from '../console-pages.decorator.js';
import type { ConsoleAnswer, ConsoleVisit } from '../console-visit.js';
import { attempt, type FieldErrors } from '../form-attempt.js';
import { listQuery } from '../list-query.js';
import { deliveriesPage } from './deliveries.page.js';
import { deliveryPage } from './delivery.page.js';
import { deliveryPath } from './endpoint-paths.js';

/** Deliveries of all clients: listed, looked at, sent again. */
@ConsolePages('deliveries')
export class ConsoleDeliveriesController {
  constructor(private readonly deliveries: DeliveriesService) {}

  @Shows()
  async list(@Visit() visit: ConsoleVisit): Promise<ConsoleAnswer> {
    const { done: query, errors } = await attempt(() => listQuery(DeliveriesQuery, visit.url));
    if (errors) {
      const page = { items: [], hasNext: false, hasPrevious: false };
      return { html: deliveriesPage({ frame: visit.frame, filter: {}, page, errors }), status: 400 };
    }
    const filter = { clientId: query.client_id, endpointId: query.endpoint_id, state: query.state };
    const page = await this.deliveries.list(filter, pageRequestOf(query));
    return { html: deliveriesPage({ frame: visit.frame, filter, page }) };
  }

  @Shows(':id')
  show(@Visit() visit: ConsoleVisit, @Param('id') id: string): Promise<ConsoleAnswer> {
    return this.page(visit, id);
  }

  /** Sends it again; while an attempt is under way, the page says so. */
  @Does(':id/resend')
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
